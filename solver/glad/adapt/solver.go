package adapt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Solver averages the estimates of a set of models.
type Solver struct {
	// Set is what is averaged.
	Set *Set
	// Samples are the samples behind S, M·d numbers, one sample after the other; where S is
	// made of ranks, the scores that stand for them. nil without samples: then the gate
	// chooses.
	Samples []float64
	// Standardised says that S is a correlation. The set must be for such.
	Standardised bool
	// Backend evaluates the models. Default (nil): glad.CPU{}.
	Backend glad.Backend
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
	// Report, if set, is told how much is done, from 0 to 1.
	Report func(done float64, what string)
}

// How weights were found.
const (
	ByLikelihood = "likelihood" // of held-out samples
	ByGate       = "gate"
)

// A Choice is what was averaged.
type Choice struct {
	// By is ByLikelihood or ByGate.
	By string
	// Weights are those of the models, in the order of the set: positive or zero, with the
	// sum 1.
	Weights []float64
	// Gap, of ByLikelihood, bounds what other weights could gain: nats of held-out
	// likelihood of all samples.
	Gap float64
	// Expected, of ByGate, is the error that the gate expects of each model beyond that of
	// the general one, in decibels.
	Expected []float64
}

// Adapt solves p with every model, and returns the mean of the estimates with what was
// averaged. Precision is symmetric positive definite, being a mean of such matrices.
// Support is zero where the mean of the supports, as a partial correlation, is below the
// mean of the thresholds. Iterations are those of the longest model; Status is Completed.
//
// Samples decide where M is at least three times d, in five folds, the i-th sample being held
// out in fold i mod 5: with fewer their likelihood misleads, and the gate does better. The same samples give the same bits, with any number of threads.
//
// When ctx ends first the estimate is that of the general model as far as it has come,
// with Status Interrupted and all weight on it. Errors are those of glad.Solver.
func (s Solver) Adapt(ctx context.Context, p solver.Problem) (*solver.Estimate, Choice, error) {
	start := time.Now()
	w := &work{Solver: s, ctx: ctx, steps: 2 * len(s.Set.Models)}
	if s.Samples != nil && p.S.Len() > 0 && len(s.Samples)/p.S.Len() >= max(likelihoodRatio*p.S.Len(), 2*folds) {
		w.steps += folds * len(s.Set.Models)
	}
	est, choice, err := w.run(p)
	if est != nil {
		est.Elapsed = time.Since(start)
	}
	return est, choice, err
}

// likelihoodRatio is the M/d from which samples that are held out decide. Over 40 tables of
// Draw each, the gate was better by .09 ± .04 and .11 ± .04 dB at M/d = 1 (standardised and
// equal scales), .06 ± .04 and −.02 ± .07 at 1.5, .01 ± .05 and .10 ± .03 at 2, and worse
// by .04 ± .04 and .04 ± .06 at 3, .20 ± .15 and .02 ± .07 at 4, .25 ± .13 and .15 ± .12 at 6.
const likelihoodRatio = 3

// work is one call of Adapt.
type work struct {
	Solver
	ctx         context.Context
	done, steps int
}

func (w *work) tell(n int, what string) {
	w.done += n
	if w.Report != nil {
		w.Report(math.Min(1, float64(w.done)/float64(w.steps)), what)
	}
}

func (w *work) engine() dense.Engine {
	if w.Engine == nil {
		return dense.Default()
	}
	return w.Engine
}

func (w *work) run(p solver.Problem) (*solver.Estimate, Choice, error) {
	general := Choice{By: ByGate, Weights: make([]float64, len(w.Set.Models))}
	general.Weights[0] = 1
	estimates := make([]*solver.Estimate, len(w.Set.Models))
	for k, m := range w.Set.Models {
		all, err := w.solve(m, []solver.Problem{p})
		if err != nil {
			return nil, general, err
		}
		estimates[k] = all[0]
		switch status := all[0].Status; {
		case status == solver.Interrupted:
			estimates[0].Status = status
			return estimates[0], general, nil
		case status != solver.Completed && k == 0:
			return all[0], general, nil
		}
		w.tell(1, m.Name)
	}
	choice, err := w.choose(p, estimates)
	if w.ctx.Err() != nil {
		estimates[0].Status = solver.Interrupted
		return estimates[0], general, nil
	}
	if err != nil {
		return nil, general, err
	}
	est := w.mean(estimates, choice.Weights)
	w.tell(w.steps-w.done, "the mean")
	return est, choice, nil
}

// choose finds the weights.
func (w *work) choose(p solver.Problem, estimates []*solver.Estimate) (Choice, error) {
	d := p.S.Len()
	if m := len(w.Samples) / max(1, d); m >= max(likelihoodRatio*d, 2*folds) {
		return w.byLikelihood(d)
	}
	return w.byGate(p, estimates)
}

// mean is the weighted mean of estimates. Those that have stalled have no weight.
func (w *work) mean(estimates []*solver.Estimate, weights []float64) *solver.Estimate {
	first := estimates[0]
	d := first.Precision.Len()
	mean := &solver.Estimate{
		Precision: dense.NewSym(d, nil), Support: dense.NewSym(d, nil), Status: solver.Completed,
		Objective: math.NaN(), DualityGap: math.NaN(), KKTResidual: math.NaN(),
	}
	var threshold float64
	for k, e := range estimates {
		if weights[k] == 0 {
			continue
		}
		add(mean.Precision, weights[k], e.Precision)
		add(mean.Support, weights[k], e.Support)
		threshold += weights[k] * w.Set.Models[k].Threshold
		mean.Iterations = max(mean.Iterations, e.Iterations)
	}
	for i := range d {
		row := mean.Support.Row(i)
		for j, v := range row {
			if i != j && math.Abs(v) < threshold*math.Sqrt(mean.Precision.At(i, i)*mean.Precision.At(j, j)) {
				row[j] = 0
			}
		}
	}
	return mean
}

// add adds f·a to to.
func add(to *dense.Sym, f float64, a *dense.Sym) {
	x := a.Raw()
	for i := range to.Raw() {
		to.Raw()[i] += f * x[i]
	}
}

// solve runs a model on problems of this kind. A model of correlations is given those of
// covariances, and its estimates are mapped to the units of the variables by shrunk
// deviations.
func (w *work) solve(m *glad.Model, problems []solver.Problem) ([]*solver.Estimate, error) {
	given := problems
	var deviations [][]float64
	if !w.Standardised && !m.Card.OnCovariances() {
		given = make([]solver.Problem, len(problems))
		for i, p := range problems {
			r, of := correlation(p.S)
			given[i] = solver.Problem{S: r, Samples: p.Samples}
			deviations = append(deviations, covariance.ShrunkDeviations(of, p.Samples))
		}
	}
	estimates, err := glad.Solver{Model: m, Backend: w.Backend}.SolveAll(w.ctx, given)
	if err != nil {
		return nil, fmt.Errorf("expert %q: %w", m.Name, err)
	}
	for i, of := range deviations {
		for _, a := range []*dense.Sym{estimates[i].Precision, estimates[i].Support} {
			rescale(a, of)
		}
		if !estimates[i].Precision.Finite() {
			return nil, errors.Join(glad.ErrUnits)
		}
	}
	return estimates, nil
}

// correlation is that of a covariance, and the standard deviations.
func correlation(s *dense.Sym) (*dense.Sym, []float64) {
	d := s.Len()
	deviations := make([]float64, d)
	for i := range d {
		deviations[i] = math.Sqrt(s.At(i, i))
	}
	r := s.Clone()
	rescale(r, deviations)
	for i := range d {
		r.Set(i, i, 1)
	}
	return r, deviations
}

// rescale divides every entry by the scales of its row and column.
func rescale(a *dense.Sym, scales []float64) {
	for i := range a.Len() {
		row := a.Row(i)
		for j := range row {
			row[j] /= scales[i] * scales[j]
		}
	}
}
