package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// NMSE gathers the normalised mean square error of precision matrices over
// graphs. The zero value is ready to use.
//
// There are two definitions, and they differ: Decibels, the paper's formula, is
// the default wherever one figure is printed; MeanDecibels is the mean of the
// logarithms of single graphs.
type NMSE struct {
	errors, norms []float64
}

// Add takes one graph: its estimate and its truth Θ*, both d×d, finite, the
// truth not zero.
func (n *NMSE) Add(estimate, truth *dense.Sym) error {
	if err := sameSize(estimate, truth); err != nil {
		return err
	}
	var e, t float64
	for i := range truth.Len() {
		var re, rt float64 // per row: d partial sums lose less than one
		row := estimate.Row(i)
		for j, v := range truth.Row(i) {
			re += (row[j] - v) * (row[j] - v)
			rt += v * v
		}
		e += re
		t += rt
	}
	if !(t > 0) || math.IsInf(t, 0) || math.IsNaN(e) || math.IsInf(e, 0) {
		return fmt.Errorf("squared error %v over squared norm %v has no NMSE; both matrices must be finite and the truth not zero", e, t)
	}
	n.errors = append(n.errors, e)
	n.norms = append(n.norms, t)
	return nil
}

// Graphs is the number of graphs added.
func (n *NMSE) Graphs() int { return len(n.errors) }

// errNoGraph is returned by every figure of an empty NMSE.
var errNoGraph = errors.New("the NMSE of no graph is undefined; add one first")

// Decibels is 10·log10(E‖X − Θ*‖²_F / E‖Θ*‖²_F), E the mean over graphs
// (Shrivastava et al., ICLR 2020, section 5), with its standard error by the
// delta method for a ratio of means; the error is NaN for a single graph.
// Where every estimate is exact the figure is −Inf and its error NaN.
func (n *NMSE) Decibels() (value, standardError float64, err error) {
	if len(n.errors) == 0 {
		return 0, 0, errNoGraph
	}
	e, t := mean(n.errors), mean(n.norms)
	// d log(e/t) = de/e − dt/t, to first order, graph by graph.
	influence := make([]float64, len(n.errors))
	for i := range influence {
		influence[i] = n.errors[i]/e - n.norms[i]/t
	}
	_, se := MeanAndError(influence)
	return decibels(e / t), se * 10 / math.Ln10, nil
}

// Difference is Decibels of n less those of other, estimates of the same graphs added in the
// same order, with its standard error over graphs by the delta method, NaN for a single graph.
func (n *NMSE) Difference(other *NMSE) (value, standardError float64, err error) {
	if !slices.Equal(n.norms, other.norms) {
		return 0, 0, errors.New("two NMSE are of different graphs; add the same ones to both, in one order")
	}
	a, _, err := n.Decibels()
	if err != nil {
		return 0, 0, err
	}
	b, _, err := other.Decibels()
	if err != nil {
		return 0, 0, err
	}
	influence := make([]float64, len(n.errors))
	for i := range influence { // the norms are the same
		influence[i] = n.errors[i]/mean(n.errors) - other.errors[i]/mean(other.errors)
	}
	_, se := MeanAndError(influence)
	return a - b, se * 10 / math.Ln10, nil
}

// MeanDecibels is the mean over graphs of 10·log10(‖X − Θ*‖²_F / ‖Θ*‖²_F), with
// the standard error of that mean, NaN for a single graph. It is −Inf where any
// estimate is exact.
func (n *NMSE) MeanDecibels() (value, standardError float64, err error) {
	if len(n.errors) == 0 {
		return 0, 0, errNoGraph
	}
	logs := make([]float64, len(n.errors))
	for i, e := range n.errors {
		logs[i] = decibels(e / n.norms[i])
	}
	value, standardError = MeanAndError(logs)
	return value, standardError, nil
}

func decibels(ratio float64) float64 { return 10 * math.Log10(ratio) }

// MeanAndError returns the mean of x and its standard error s/√n, with the
// unbiased variance s². The error is NaN for fewer than two values, the mean NaN
// for none.
func MeanAndError(x []float64) (average, standardError float64) {
	average = mean(x)
	if len(x) < 2 {
		return average, math.NaN()
	}
	var ss float64
	for _, v := range x {
		ss += (v - average) * (v - average)
	}
	n := float64(len(x))
	return average, math.Sqrt(ss / (n - 1) / n)
}

func mean(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}
