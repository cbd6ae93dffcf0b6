package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// The features of a table, which Λnn and the networks of posterior-mean cells may have:
// one number per problem each, as Context. See Table for M where it is not known.
const (
	SampleRatio    Feature = "sample_ratio"    // ½ log M/d
	Strength       Feature = "strength"        // log(1 + mean M·Rij²)
	Kurtosis       Feature = "kurtosis"        // ½ log of that of Rij
	RowSpread      Feature = "row_spread"      // standard deviation of n(i)
	LargestContext Feature = "largest_context" // maximum of n(i)
)

// A Table has the features of a table: numbers that tell cells which kind of problem they
// work on. All are finite for every covariance, and do not depend on the units of the
// variables nor on their order and signs. They are constants of a problem, without
// derivatives.
//
// Where M is not known the guess that ZScore describes takes its place.
type Table struct {
	// SampleRatio is ½ log M/d, with M/d no less than 1/100 and no more than 1000.
	SampleRatio float64
	// Strength is log(1 + M·s) where s is the mean of Rij² over the pairs, about
	// log 2 where all variables are independent; 0 where there is no pair.
	Strength float64
	// Kurtosis is ½ log(q/3s²) where q is the mean of Rij⁴ over the pairs: 0 where
	// the correlations are normal, as those of independent variables nearly are, and
	// larger where a few stand out. 0 where there is no correlation.
	Kurtosis float64
	// RowSpread is the standard deviation of n(i) over the variables, which
	// PosteriorMean has, and LargestContext the maximum: both are large where there are
	// hubs.
	RowSpread, LargestContext float64
}

// The bounds of M/d in Table.SampleRatio.
const (
	leastSampleRatio = 0.01
	mostSampleRatio  = 1000
)

// table makes the features of a table from n(i) and M, which may be 0 where no network
// needs it.
func (c *connectedness) table(nodes []float64, m float64) Table {
	ratio := m / float64(len(nodes))
	t := Table{
		SampleRatio:    math.Log(min(max(ratio, leastSampleRatio), mostSampleRatio)) / 2,
		Strength:       math.Log1p(m * c.second),
		RowSpread:      math.Sqrt(stat.PopVariance(nodes, nil)),
		LargestContext: floats.Max(nodes),
	}
	if square := c.second * c.second; square > 0 && c.fourth > 0 {
		t.Kurtosis = math.Log(c.fourth/(3*square)) / 2
	}
	return t
}

// ofTable is the row of a feature of the table.
func ofTable(name Feature, of func(t *Table) float64) feature {
	return feature{
		name: name, fixed: true,
		common: &commonFormula{value: func(c *constants) float64 { return of(&c.table) }},
		lambda: &lambdaFormula{value: func(in *lambdaInputs) float64 { return of(&in.table) }},
	}
}

func (f feature) withSamples() feature {
	f.samples = true
	return f
}
