package covariance

import (
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// ErrTooFewSamples is returned for fewer than two samples.
var ErrTooFewSamples = errors.New("at least two samples are needed")

// A ColumnError says which variable cannot be used, why, and what to do.
type ColumnError struct {
	// Column is the variable's number, from 0.
	Column int
	// Name is its name; empty where Settings.Names has none.
	Name string
	// Sample is the number, from 0, of the faulty sample; −1 where the whole
	// column is faulty.
	Sample int
	// Reason completes the sentence "column x ...".
	Reason string
	// Advice says what to do.
	Advice string
	// Others is the number of further columns with the same fault, as far as
	// they are known.
	Others int
	// Constant says that the fault is that they do not vary. OtherConstants are then
	// the numbers of the others.
	Constant       bool
	OtherConstants []int
}

// Error is one sentence, with the variable's number counted from 1 as people
// do.
func (e *ColumnError) Error() string {
	column := fmt.Sprintf("column %d", e.Column+1)
	if e.Name != "" {
		column = fmt.Sprintf("column %q (number %d)", e.Name, e.Column+1)
	}
	var others string
	switch {
	case e.Others == 1:
		others = " (one more column has the same fault)"
	case e.Others > 1:
		others = fmt.Sprintf(" (%d more columns have the same fault)", e.Others)
	}
	return fmt.Sprintf("%s %s%s; %s", column, e.Reason, others, e.Advice)
}

func columnError(column int, names []string, reason, advice string) *ColumnError {
	e := &ColumnError{Column: column, Sample: -1, Reason: reason, Advice: advice}
	if column < len(names) {
		e.Name = names[column]
	}
	return e
}

func notFinite(v float64, sample, column int, names []string) error {
	e := columnError(column, names,
		fmt.Sprintf("has the value %v in sample %d", v, sample+1),
		"fill in missing values, or remove the column or the sample")
	e.Sample = sample
	return e
}

// spread is where variables lie and how far they scatter, in their units.
type spread struct {
	means []float64
	sds   []float64 // divisor M
}

// rounding is the standard deviation, relative to the mean, up to which a
// column is taken for a constant that was rounded in several ways: a few times
// the spacing of float64.
const rounding = 4 * 0x1p-52

// check returns a ColumnError for the first variable that does not vary.
func (s spread) check(samples int, names []string) error {
	var first *ColumnError
	for j, sd := range s.sds {
		var e *ColumnError
		switch {
		case math.IsNaN(sd) || math.IsInf(sd, 0):
			e = columnError(j, names, "has values too large to be subtracted from each other", "choose a larger unit for it")
		case sd == 0:
			e = columnError(j, names, fmt.Sprintf("is constant: all %d samples are %v", samples, s.means[j]),
				"a variable that does not vary is related to none, so remove it")
		case sd <= rounding*math.Abs(s.means[j]):
			e = columnError(j, names, fmt.Sprintf("is constant up to rounding: its standard deviation %.2g is below the accuracy of its mean %.17g", sd, s.means[j]),
				"a variable that does not vary is related to none, so remove it")
		default:
			continue
		}
		e.Constant = !math.IsNaN(sd) && !math.IsInf(sd, 0)
		switch {
		case first == nil:
			first = e
		case e.Constant != first.Constant:
		case e.Constant:
			first.OtherConstants = append(first.OtherConstants, j)
			fallthrough
		default:
			first.Others++
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// stdDevs are the standard deviations for a divisor.
func (s spread) stdDevs(samples int, divisor float64) []float64 {
	f := math.Sqrt(float64(samples) / divisor)
	sds := make([]float64, len(s.sds))
	for j, sd := range s.sds {
		sds[j] = f * sd
	}
	return sds
}

// representable returns a ColumnError where a variance is lost to float64: a
// correlation, being free of units, would not be.
func representable(s *dense.Sym, names []string) error {
	variances := make([]float64, s.Len())
	for j := range variances {
		variances[j] = s.At(j, j)
	}
	return representableVariances(variances, names)
}

func representableVariances(variances []float64, names []string) error {
	for j, v := range variances {
		const smallestNormal = 0x1p-1022
		if !(v >= smallestNormal && v <= math.MaxFloat64) {
			return columnError(j, names, fmt.Sprintf("has the variance %.3g, beyond the range of float64", v),
				"choose another unit for it, or a correlation")
		}
	}
	return nil
}
