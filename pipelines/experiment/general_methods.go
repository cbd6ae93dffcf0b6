package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// An answer is what a method says of one graph.
type answer struct {
	// standard is its Z for the standardised variables; nil for a ranking of pairs.
	standard *dense.Sym
	// original, if set, are its Z in the units of the table, one for each spread of scales;
	// otherwise they are made of standard.
	original []*dense.Sym
	// score ranks pairs for AUPR, and for AUROC unless area is set.
	score, area *dense.Sym
	// probability, if set, is how likely an edge is, and kept says which pairs are kept by it.
	probability *dense.Sym
	kept        func(i, j int) bool
}

// A contender is one method of the experiment general.
type contender struct {
	name   string
	answer func(ctx context.Context, c *tableCase) (*answer, error)
	// equalOnly says that it knows that scales are equal: it takes no part elsewhere.
	equalOnly bool
}

// Names of contenders.
const (
	lassoByTruth   = "graphical lasso, tuned by the truth"
	familyModel    = "model of the family"
	familyEqual    = "model of the family, equal scales"
	ledoitWolf     = "Ledoit-Wolf"
	absCorrelation = "correlation"
	noEdges        = "no edges"
)

// learned is a model on correlations.
func (r *Run) learned(name string, m *glad.Model) contender {
	return contender{name: name, answer: func(ctx context.Context, c *tableCase) (*answer, error) {
		est, err := r.solveOne(ctx, m, c.problem())
		if err != nil {
			return nil, err
		}
		a := &answer{standard: est.Support, score: normalised(est.Precision), probability: est.Probability}
		if keepLikely(est); est.EdgeThreshold > 0 { // it ranks by them then
			a.score = est.Probability
			a.kept = est.IsEdge
		}
		return a, nil
	}}
}

// keepLikely makes the edges of an estimate those that are listed where nobody says otherwise.
func keepLikely(est *solver.Estimate) {
	if est.Probability != nil && !est.Unfamiliar {
		est.KeepLikely(solver.DefaultFDR)
	}
}

// learnedEqual is a model on covariances of variables of equal scale.
func (r *Run) learnedEqual(m *glad.Model) contender {
	return contender{name: familyEqual, equalOnly: true, answer: func(ctx context.Context, c *tableCase) (*answer, error) {
		est, err := r.solveOne(ctx, m, c.equal())
		if err != nil {
			return nil, err
		}
		return equalAnswer(ctx, est)
	}}
}

// equalAnswer is that of an estimate in the units of a table whose scales are equal.
func equalAnswer(ctx context.Context, est *solver.Estimate) (*answer, error) {
	// Its own variances say what it takes the standardised variables to be.
	standard, err := dense.AwaitResult(ctx, func() (*dense.Sym, error) { return simulate.Standardize(est.Precision) })
	if err != nil {
		return nil, err
	}
	factor := make([]float64, standard.Len())
	for i := range factor {
		factor[i] = math.Sqrt(standard.At(i, i) / est.Precision.At(i, i))
	}
	return &answer{standard: times(est.Support, factor), original: []*dense.Sym{est.Support}, score: normalised(est.Precision)}, nil
}

func (r *Run) solveOne(ctx context.Context, m *glad.Model, c solver.Example) (*solver.Estimate, error) {
	est, err := glad.Solver{Model: m, Backend: glad.CPU{Engine: r.Engine}}.Solve(ctx, c.Problem())
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = est.Status.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	return est, nil
}

// simple are the methods that learn and choose nothing.
func (r *Run) simple() []contender {
	return []contender{
		{name: ledoitWolf, answer: func(ctx context.Context, c *tableCase) (*answer, error) {
			inverse := dense.NewSym(c.shrunk.Len(), nil)
			definite, err := dense.AwaitResult(ctx, func() (bool, error) {
				_, ok := dense.NewWorkspace(r.engine(), c.shrunk.Len()).Inverse(inverse, c.shrunk)
				return ok, nil
			})
			if err == nil && !definite {
				err = errors.New("the shrunk correlation is not positive definite")
			}
			if err != nil {
				return nil, err
			}
			return &answer{standard: inverse, score: normalised(inverse)}, nil
		}},
		{name: absCorrelation, answer: func(_ context.Context, c *tableCase) (*answer, error) {
			return &answer{score: normalised(c.correlation)}, nil
		}},
		{name: noEdges, answer: func(_ context.Context, c *tableCase) (*answer, error) {
			d := c.truth.Len()
			return &answer{standard: dense.Identity(d), score: dense.NewSym(d, nil)}, nil
		}},
	}
}

func (r *Run) engine() dense.Engine {
	if r.Engine == nil {
		return dense.Default()
	}
	return r.Engine
}

// oracleLasso is the graphical lasso on the correlation with, for each graph and each figure,
// the penalty that is best by the truth: nobody can do as well who does not know that.
func (r *Run) oracleLasso(scales []float64) contender {
	return contender{name: lassoByTruth, answer: func(ctx context.Context, c *tableCase) (*answer, error) {
		p := oraclePath{r: r, c: c, scales: scales}
		return p.best(ctx)
	}}
}

// An oraclePath is a search over penalties of one graph.
type oraclePath struct {
	r      *Run
	c      *tableCase
	scales []float64

	answer             answer
	standard           float64 // least NMSE
	original           []float64
	precision, roc     float64
	improved           bool // by the last penalty, in NMSE or AUPR
	bestRho            float64
	atBest, beforeThis *solver.Estimate
}

// best tries penalties in steps of √2 around √(log d/M), from the highest down, until neither
// NMSE nor AUPR gains for three, and then two halvings of the step around the best NMSE.
func (p *oraclePath) best(ctx context.Context) (*answer, error) {
	p.standard, p.precision, p.roc = math.Inf(1), math.Inf(-1), math.Inf(-1)
	for range p.scales {
		p.original = append(p.original, math.Inf(1))
	}
	p.answer.original = make([]*dense.Sym, len(p.scales))
	unit := math.Sqrt(math.Log(float64(p.c.truth.Len())) / float64(p.c.samples))
	const highest, lowest, patience = 3, -12, 3
	idle := 0
	for k := highest; k >= lowest && idle < patience; k-- {
		if err := p.try(ctx, unit*math.Pow(2, float64(k)/2)); err != nil {
			return nil, err
		}
		if idle++; p.improved {
			idle = 0
		}
	}
	for _, step := range []float64{0.25, 0.125} {
		centre := p.bestRho
		for _, sign := range []float64{1, -1} {
			p.beforeThis = p.atBest
			if err := p.try(ctx, centre*math.Pow(2, sign*step)); err != nil {
				return nil, err
			}
		}
	}
	return &p.answer, nil
}

// try solves with the penalty rho and keeps what is best.
func (p *oraclePath) try(ctx context.Context, rho float64) error {
	est, err := tune.Lasso(ctx, p.c.problem(), rho, p.beforeThis, tune.Settings{Engine: p.r.Engine})
	if err != nil {
		return fmt.Errorf("graphical lasso, ρ = %v: %w", rho, err)
	}
	p.beforeThis, p.improved = est, false
	v, err := errorOf(est.Support, p.c.standard)
	if err != nil {
		return err
	}
	if v < p.standard {
		p.standard, p.answer.standard, p.bestRho, p.atBest, p.improved = v, est.Support, rho, est, true
	}
	for k, spread := range p.scales {
		z := p.c.original(est.Support, spread)
		if v, err = errorOf(z, times(p.c.truth, p.c.scales(spread))); err != nil {
			return err
		}
		if v < p.original[k] {
			p.original[k], p.answer.original[k] = v, z
		}
	}
	score := normalised(est.Precision)
	rank, err := rankOf(score, p.c.truth)
	if err != nil || rank == nil {
		return err
	}
	if rank.AveragePrecision > p.precision {
		p.precision, p.answer.score, p.improved = rank.AveragePrecision, score, true
	}
	if rank.AUROC > p.roc {
		p.roc, p.answer.area = rank.AUROC, score
	}
	return nil
}

// errorOf is ‖z − truth‖² over ‖truth‖², in dB.
func errorOf(z, truth *dense.Sym) (float64, error) {
	var n metric.NMSE
	if err := n.Add(z, truth); err != nil {
		return 0, err
	}
	v, _, err := n.Decibels()
	return v, err
}

// rankOf ranks all pairs; nil where the graph has no edges or no pair without.
func rankOf(score, truth *dense.Sym) (*metric.Ranking, error) {
	values, edge := pairsOf(score), make([]bool, 0, score.Len())
	edges := 0
	for _, v := range pairsOf(truth) {
		edge = append(edge, v != 0)
		if v != 0 {
			edges++
		}
	}
	if edges == 0 || edges == len(edge) {
		return nil, nil
	}
	rank, err := metric.Rank(values, edge)
	return &rank, err
}

// pairsOf are the entries above the diagonal.
func pairsOf(a *dense.Sym) []float64 {
	v := make([]float64, 0, a.Len()*(a.Len()-1)/2)
	for i := range a.Len() {
		v = append(v, a.Row(i)[i+1:]...)
	}
	return v
}
