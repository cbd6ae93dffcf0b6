package selection

import (
	"context"
	"errors"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// DefaultRefitGamma is γ of Refit: see the experiment "selection" for what others give.
const DefaultRefitGamma = 0.4

// relaxation is what is left of the penalty where the neighbours of a variable are regressed
// on again, as a ridge: enough for a regression on more neighbours than samples, and little
// enough to take the bias away.
const relaxation = 0.1

// Refit chooses the penalty whose graph has the least extended Bayesian information criterion
//
//	(M/2)·Σj log(vj/Sjj) + E·log M + 2γ·log C(d(d−1)/2, E)
//
// (Chen and Chen, Biometrika 95 (2008)) of a fit to the graph itself and not of the penalised
// solution: vj is the residual variance of variable j regressed again on its neighbours in
// the graph, with a tenth of the penalty as a ridge. The sum is the pseudo-likelihood (Besag,
// The Statistician 24 (1975)), halved because every edge is in two regressions, so that for
// pairs of variables that are related to no other it is the likelihood itself.
//
// Without the bias of the penalty an edge is paid for by what it is in the data: EBIC, which
// pays by the solution, leaves few samples without a graph and gives many samples too many
// edges. p.Samples must be known. Gamma is 0.4 by default.
//
// When ctx ends first, the choice among what is finished is returned together with ctx's
// error, or an *ErrNothing.
func Refit(ctx context.Context, p solver.Problem, s Settings) (*Choice, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Samples < 2 {
		return nil, errors.New("the extended BIC needs the number of samples")
	}
	if s.Gamma == 0 && !s.BIC {
		s.Gamma = DefaultRefitGamma
	}
	gamma, err := s.gamma()
	if err != nil {
		return nil, err
	}
	m, d := float64(p.Samples), float64(p.S.Len())
	again := newRefitter(p.S, s)
	return s.information(ctx, p, func(ctx context.Context, on *lane, point *Point) error {
		fit, err := again.fit(ctx, on.last.Precision, relaxation*point.Penalty)
		if err != nil {
			return err
		}
		point.LogLikelihood = -m / 4 * fit
		point.Criterion = m/2*fit + point.Edges*math.Log(m) + 2*gamma*logChoose(d*(d-1)/2, point.Edges)
		return nil
	}, func(float64) bool { return true })
}

// logChoose is log C(n, k).
func logChoose(n, k float64) float64 {
	all, _ := math.Lgamma(n + 1)
	some, _ := math.Lgamma(k + 1)
	rest, _ := math.Lgamma(n - k + 1)
	return all - some - rest
}

// A refitter regresses variables on their neighbours.
type refitter struct {
	s        *dense.Sym
	set      Settings
	residual []float64 // log(vj/Sjj)
	workers  []*regression
}

// A regression is the memory of one goroutine.
type regression struct {
	engine     dense.Engine
	neighbours []int
	gram, b, x []float64
}

func newRefitter(s *dense.Sym, set Settings) *refitter {
	r := &refitter{s: s, set: set, residual: make([]float64, s.Len())}
	for range dense.Threads(set.engine()) {
		r.workers = append(r.workers, &regression{engine: dense.WithThreads(set.engine(), 1)})
	}
	return r
}

// fit is Σj log(vj/Sjj) for the graph of theta.
func (r *refitter) fit(ctx context.Context, theta *dense.Sym, ridge float64) (float64, error) {
	err := dense.Each(ctx, r.s.Len(), len(r.workers), func(worker, j int) error {
		v, err := r.workers[worker].residual(ctx, r.s, theta.Row(j), j, ridge)
		r.residual[j] = math.Log(v / r.s.At(j, j))
		return err
	})
	var sum float64
	for _, v := range r.residual {
		sum += v
	}
	return sum, err
}

// residual is the variance of variable j that is left by b = (S_NN + λI)⁻¹·S_Nj, N being its
// neighbours: Sjj − bᵀS_Nj − λ‖b‖².
func (w *regression) residual(ctx context.Context, s *dense.Sym, theta []float64, j int, ridge float64) (float64, error) {
	w.neighbours = w.neighbours[:0]
	for i, v := range theta {
		if v != 0 && i != j {
			w.neighbours = append(w.neighbours, i)
		}
	}
	n := len(w.neighbours)
	of := s.Row(j)
	if n == 0 {
		return of[j], nil
	}
	w.gram, w.b, w.x = grown(w.gram, n*n), grown(w.b, n), grown(w.x, n)
	for a, i := range w.neighbours {
		row := s.Row(i)
		for c, k := range w.neighbours {
			w.gram[a*n+c] = row[k]
		}
		w.gram[a*n+a] += ridge
		w.b[a] = of[i]
	}
	definite := false
	if err := dense.AwaitLong(ctx, n, func() { definite = w.engine.Cholesky(n, w.gram) }); err != nil {
		return of[j], err
	}
	least := 1e-12 * of[j] // the rounding of a variable that its neighbours repeat
	if !definite {
		return least, nil
	}
	copy(w.x, w.b)
	for a := range n { // Uᵀy = b, then Ux = y
		w.x[a] /= w.gram[a*n+a]
		for c := a + 1; c < n; c++ {
			w.x[c] -= w.gram[a*n+c] * w.x[a]
		}
	}
	for a := n - 1; a >= 0; a-- {
		for c := a + 1; c < n; c++ {
			w.x[a] -= w.gram[a*n+c] * w.x[c]
		}
		w.x[a] /= w.gram[a*n+a]
	}
	v := of[j]
	for a, x := range w.x {
		v -= x*w.b[a] + ridge*x*x
	}
	return math.Max(v, least), nil
}

// grown is a slice of n, s if it has room.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, 2*n)
	}
	return s[:n]
}
