package ranking

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// An Input is a number of a pair of variables. R is the correlation of the normal
// scores of the samples, |·| the absolute value, z standardises over all pairs of the
// table, and CLR is association.Scorer's of what would be the mutual information of
// two Gaussian variables with that correlation.
type Input string

// The inputs of model files, version 1.
const (
	Correlation    Input = "correlation"     // z of |R|
	CorrelationCLR Input = "correlation-clr" // CLR of R
	Power          Input = "power"           // z of the spectral score of association.Power
	LogarithmCLR   Input = "logarithm-clr"   // CLR of the spectral score of association.Logarithm
	Partial        Input = "partial"         // z of the partial correlation, R shrunk by a half
	InformationCLR Input = "information-clr" // CLR of the mutual information of bins
)

// Inputs lists them: those of an unordered pair.
func Inputs() []Input {
	return []Input{Correlation, CorrelationCLR, Power, LogarithmCLR, Partial, InformationCLR}
}

// A Context is a number of a table.
type Context string

// The contexts of model files, version 1.
const (
	LogSamples        Context = "log-samples"        // ln n
	LogVariables      Context = "log-variables"      // ln d
	LogMeanSquare     Context = "log-mean-square"    // ln of 1e-4 and the mean square of R over pairs
	LargestEigenvalue Context = "largest-eigenvalue" // of R, over d
)

// Contexts lists them: those of a table without a list of regulators.
func Contexts() []Context {
	return []Context{LogSamples, LogVariables, LogMeanSquare, LargestEigenvalue}
}

// shrinkage is the weight of the identity in Partial.
const shrinkage = 0.5

// Features are the inputs of all pairs of a table, and its context.
type Features struct {
	Variables, Samples int
	// Regulators are the variables at which edges start; nil for unordered pairs.
	Regulators []int
	// Context is that of the table, in the order asked for.
	Context []float64
	// Correlation is that of the normal scores, R.
	Correlation *dense.Sym
	names       []Input
	inputs      []values
	place       []int // of a variable among the regulators, -1 for another
}

// values are those of an input: of all pairs, or of all from a regulator.
type values struct {
	pairs    *dense.Sym
	directed []float64 // that of regulator number k and variable j at k·d + j
}

// Append appends the inputs of a pair to x, clipped to ±bound. With an input of
// DirectedInputs i is one of the regulators, and the edge goes from i to j.
func (f *Features) Append(x []float64, i, j int, bound float64) []float64 {
	for _, in := range f.inputs {
		var v float64
		if in.pairs != nil {
			v = in.pairs.At(i, j)
		} else {
			v = in.directed[f.place[i]*f.Variables+j]
		}
		x = append(x, max(-bound, min(bound, v)))
	}
	return x
}

// Of is one of the inputs of Inputs that were asked for, of all pairs; nil for another.
// It is the features' own.
func (f *Features) Of(name Input) *dense.Sym {
	if k := slices.Index(f.names, name); k >= 0 {
		return f.inputs[k].pairs
	}
	return nil
}

// OfRegulators is Of for the inputs of DirectedInputs: that of regulator number k and
// variable j is at k·d + j.
func (f *Features) OfRegulators(name Input) []float64 {
	if k := slices.Index(f.names, name); k >= 0 {
		return f.inputs[k].directed
	}
	return nil
}

// Candidates is the number of variables that a variable is paired with, itself counted
// where it is among them: all, or the regulators. It is what Probability.Of is told of
// the size of a table.
func (f *Features) Candidates() int {
	if f.Regulators != nil {
		return len(f.Regulators)
	}
	return f.Variables
}

// Compute computes inputs and contexts of a table: rows are samples of d finite
// numbers each, one sample after the other; no variable is constant. Ranks of equal
// values are shared. Regulators, different variables, are where edges start; nil if that is
// not known, and then there are none of DirectedInputs and DirectedContexts.
//
// It is an error if there are fewer than 2 samples or variables, or if a variable is
// constant or not finite.
func Compute(ctx context.Context, engine dense.Engine, rows []float64, d int, regulators []int, inputs []Input, contexts []Context) (*Features, error) {
	estimate, err := covariance.Estimate(ctx, covariance.NewTable(rows, d), d,
		covariance.Settings{Method: covariance.NormalScores, Engine: engine})
	if err != nil {
		return nil, err
	}
	c := &computation{
		Scorer: association.Scorer{Engine: engine}, ctx: ctx, rows: rows, r: estimate.S, regulators: regulators,
	}
	f := &Features{Variables: d, Samples: len(rows) / d, Regulators: regulators, names: inputs, Correlation: c.r, place: places(regulators, d)}
	if c.spectrum, err = c.Decompose(ctx, c.r); err != nil {
		return nil, err
	}
	for _, name := range contexts {
		v, err := c.context(name, f.Samples)
		if err != nil {
			return nil, err
		}
		f.Context = append(f.Context, v)
	}
	for _, name := range inputs {
		var in values
		if slices.Contains(DirectedInputs(), name) {
			in.directed, err = c.directed(name)
		} else {
			in.pairs, err = c.input(name)
		}
		if err != nil {
			return nil, err
		}
		f.inputs = append(f.inputs, in)
	}
	return f, nil
}

// computation is what the inputs of one table share.
type computation struct {
	association.Scorer
	ctx      context.Context
	rows     []float64
	r        *dense.Sym
	spectrum *association.Spectrum

	regulators   []int
	coefficients []float64 // absolute, of the regressions on the regulators; nil before they are asked for
}

func (c *computation) input(name Input) (*dense.Sym, error) {
	m := dense.NewSym(c.r.Len(), nil)
	var steps []func() error
	spectral := func(g association.Filter) func() error {
		return func() error { return c.spectrum.Score(c.ctx, m, g) }
	}
	information := func() error { return c.Information(c.ctx, m, m) }
	clr := func() error { return c.CLR(c.ctx, m, m) }
	standardise := func() error { return c.Standardise(c.ctx, m, m) }
	absolute := func() error {
		for k, v := range c.r.Raw() {
			m.Raw()[k] = math.Abs(v)
		}
		return nil
	}
	switch name {
	case Correlation:
		steps = []func() error{absolute, standardise}
	case CorrelationCLR:
		steps = []func() error{absolute, information, clr}
	case Power:
		steps = []func() error{spectral(association.Power), standardise}
	case LogarithmCLR:
		steps = []func() error{spectral(association.Logarithm), information, clr}
	case Partial:
		steps = []func() error{spectral(association.Shrunk(shrinkage)), standardise}
	case InformationCLR:
		steps = []func() error{func() (err error) {
			m, err = c.MutualInformation(c.ctx, c.rows, c.r.Len())
			return err
		}, clr}
	default:
		return nil, fmt.Errorf("the input %q is unknown; choose from %q", name, allInputs())
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (c *computation) context(name Context, samples int) (float64, error) {
	d := float64(c.r.Len())
	switch name {
	case LogSamples:
		return math.Log(float64(samples)), nil
	case LogVariables:
		return math.Log(d), nil
	case LogMeanSquare:
		var sum float64
		for i := range c.r.Len() {
			for _, v := range c.r.Row(i)[i+1:] {
				sum += v * v
			}
		}
		return math.Log(1e-4 + sum/max(1, d*(d-1)/2)), nil
	case LargestEigenvalue:
		values := c.spectrum.Eigenvalues()
		return values[len(values)-1] / d, nil
	case LogRegulators:
		if len(c.regulators) == 0 {
			return 0, errNoRegulators(string(name))
		}
		return math.Log(float64(len(c.regulators))), nil
	}
	return 0, fmt.Errorf("the context %q is unknown; choose from %q", name, allContexts())
}
