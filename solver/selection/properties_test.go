package selection_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
	"github.com/gladflow/gladflow/solver/selection"
)

// A rule is one that chooses, for tests that hold for all.
type rule func(context.Context, solver.Problem, *covariance.Resampler, selection.Settings) (*selection.Choice, error)

func rules() map[string]rule {
	return map[string]rule{
		"ebic": func(ctx context.Context, p solver.Problem, _ *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.EBIC(ctx, p, s)
		},
		"refit": func(ctx context.Context, p solver.Problem, _ *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.Refit(ctx, p, s)
		},
		"cv": func(ctx context.Context, _ solver.Problem, from *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.HeldOut(ctx, from, nil, s)
		},
		"stars": func(ctx context.Context, _ solver.Problem, from *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.StARS(ctx, from, nil, s)
		},
		"ric": func(ctx context.Context, _ solver.Problem, from *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.Rotation(ctx, from, nil, s)
		},
		"edges": func(ctx context.Context, p solver.Problem, _ *covariance.Resampler, s selection.Settings) (*selection.Choice, error) {
			return selection.Edges(ctx, p, p.S.Len()/2, s)
		},
	}
}

// The number of threads changes no bit.
func TestThreads(t *testing.T) {
	p, from := table(t, 7, 30, 60, covariance.Settings{Method: covariance.Spearman})
	for name, choose := range rules() {
		var first *selection.Choice
		for _, n := range []int{1, 2, 3} {
			got, err := choose(t.Context(), p, from, selection.Settings{Engine: dense.WithThreads(dense.Gonum{}, n), Seed: 5})
			if err != nil {
				t.Fatal(name, err)
			}
			for k := range got.Path {
				got.Path[k].Elapsed = 0
				if math.IsNaN(got.Path[k].Error) {
					got.Path[k].Error = 0
				}
				if math.IsNaN(got.Path[k].LogLikelihood) {
					got.Path[k].LogLikelihood = 0
				}
			}
			if first == nil {
				first = got
			} else if got.Rho != first.Rho || !slices.Equal(got.Path, first.Path) || !slices.Equal(got.Permuted, first.Permuted) {
				t.Errorf("%s: %+v on %d threads, %+v on one", name, got, n, first)
			}
		}
	}
}

// The order of the variables does not matter, but to what is permuted.
func TestOrderOfVariables(t *testing.T) {
	const d, m = 14, 50
	p, from := table(t, 8, d, m, covariance.Settings{})
	order := rand.New(rand.NewPCG(3, 3)).Perm(d)
	rows := make([]float64, len(from.Rows))
	for i := range m {
		for j, of := range order {
			rows[i*d+j] = from.Rows[i*d+of]
		}
	}
	q, other := tableOf(t, rows, d, covariance.Settings{})
	for name, choose := range rules() {
		if name == "ric" {
			continue
		}
		a, err := choose(t.Context(), p, from, selection.Settings{Gap: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		b, err := choose(t.Context(), q, other, selection.Settings{Gap: 1e-8})
		if err != nil || math.Abs(a.Rho/b.Rho-1) > 1e-6 {
			t.Errorf("%s: %v, and with the variables in another order %v, %v", name, a.Rho, b.Rho, err)
		}
	}
}

// Tables of four samples, of more variables than samples, of variables that repeat each
// other or do not vary in most samples, and with missing values have a penalty by every rule.
func TestHardTables(t *testing.T) {
	repeat := func(rows []float64, d int) []float64 {
		for i := 0; i < len(rows); i += d {
			rows[i+1] = rows[i]
		}
		return rows
	}
	_, tiny := table(t, 9, 3, 4, covariance.Settings{})
	_, wide := table(t, 9, 60, 12, covariance.Settings{Shrinkage: 0.1})
	_, sparse := table(t, 9, 6, 20, covariance.Settings{Method: covariance.Covariance})
	for i := range 19 {
		sparse.Rows[i*6+2] = 0
	}
	_, one := table(t, 9, 1, 10, covariance.Settings{})
	_, shrunk := table(t, 10, 9, 25, covariance.Settings{LedoitWolf: true})
	for name, c := range map[string]*covariance.Resampler{"four samples": tiny, "wide": wide, "repeated": {Rows: repeat(wide.Rows, 60), D: 60}, "hardly varying": sparse, "one variable": one, "Ledoit-Wolf": shrunk} {
		p, from := tableOf(t, c.Rows, c.D, c.Settings)
		for rule, choose := range rules() {
			got, err := choose(t.Context(), p, from, selection.Settings{})
			if err != nil || math.IsNaN(got.Rho) || math.IsInf(got.Rho, 0) || got.Rho < 0 || got.Rho == 0 && from.D > 1 {
				t.Errorf("%s, %s: %+v, %v", name, rule, got, err)
			}
		}
	}
	rows := slices.Clone(shrunk.Rows)
	for i := 0; i < len(rows); i += 13 {
		rows[i] = math.NaN()
	}
	for _, treatment := range []covariance.Treatment{covariance.Pairwise, covariance.EM, covariance.Mean} {
		from := &covariance.Resampler{Rows: rows, D: 9, Treatment: func(int, dense.Engine) covariance.Incomplete {
			return covariance.Incomplete{Treatment: treatment, Solver: glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: 0.2}}}}
		}}
		var err error
		if from.Whole, err = covariance.EstimateIncomplete(t.Context(), slices.Clone(rows), 9, covariance.Settings{}, from.Treatment(25, nil)); err != nil {
			t.Fatal(err)
		}
		for rule, choose := range rules() {
			got, err := choose(t.Context(), solver.Problem{S: from.Whole.S, Samples: from.Whole.Samples}, from, selection.Settings{})
			if err != nil || !(got.Rho > 0) {
				t.Errorf("treatment %d, %s: %+v, %v", treatment, rule, got, err)
			}
		}
	}
}

// Variables outside of a block do not matter.
func TestBlock(t *testing.T) {
	const d, m = 10, 40
	_, from := table(t, 12, d, m, covariance.Settings{})
	block := []int{1, 3, 4, 8}
	var rows []float64
	for i := range m {
		for _, j := range block {
			rows = append(rows, from.Rows[i*d+j])
		}
	}
	_, alone := tableOf(t, rows, len(block), covariance.Settings{})
	for name, choose := range map[string]func(*covariance.Resampler, []int) (*selection.Choice, error){
		"cv": func(from *covariance.Resampler, block []int) (*selection.Choice, error) {
			return selection.HeldOut(t.Context(), from, block, selection.Settings{})
		},
		"stars": func(from *covariance.Resampler, block []int) (*selection.Choice, error) {
			return selection.StARS(t.Context(), from, block, selection.Settings{})
		},
	} {
		a, err := choose(from, block)
		if err != nil {
			t.Fatal(err)
		}
		b, err := choose(alone, nil)
		if err != nil || math.Abs(a.Rho-b.Rho) > 1e-9 || len(a.Path) != len(b.Path) {
			t.Errorf("%s: %v of the block, %v of its table, %v", name, a.Rho, b.Rho, err)
		}
	}
	if c, err := selection.Rotation(t.Context(), from, block[:1], selection.Settings{}); err != nil || c.Rho != 0 {
		t.Errorf("a block of one variable has the penalty %v, %v", c, err)
	}
}

// What is finished when the context ends is the choice, or there is none; nothing waits.
func TestInterrupted(t *testing.T) {
	p, from := table(t, 13, 200, 60, covariance.Settings{})
	for name, choose := range rules() {
		for _, after := range []int{0, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			told := 0
			var at time.Time
			got, err := choose(ctx, p, from, selection.Settings{Engine: dense.WithThreads(dense.Gonum{}, 1), Progress: func(float64, string) {
				if told++; told >= after {
					at = time.Now()
					cancel()
				}
			}})
			cancel()
			if took := time.Since(at); told > 0 && took > time.Second {
				t.Errorf("%s: %v from the cancellation to the end", name, took)
			}
			nothing := new(selection.ErrNothing)
			switch {
			case !errors.Is(err, context.Canceled):
				t.Errorf("%s after %d: %v", name, after, err)
			case errors.As(err, &nothing) && after > 0:
				t.Errorf("%s: nothing after %d reports", name, told)
			case got != nil && !(got.Rho > 0):
				t.Errorf("%s: %+v", name, got)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := choose(ctx, p, from, selection.Settings{}); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, ended before: %+v, %v", name, got, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	p, from := table(t, 14, 4, 20, covariance.Settings{})
	_, few := table(t, 14, 4, 3, covariance.Settings{})
	ctx := t.Context()
	for name, err := range map[string]func() (*selection.Choice, error){
		"no samples": func() (*selection.Choice, error) {
			return selection.EBIC(ctx, solver.Problem{S: p.S}, selection.Settings{})
		},
		"refit, no samples": func() (*selection.Choice, error) {
			return selection.Refit(ctx, solver.Problem{S: p.S}, selection.Settings{})
		},
		"no covariance":  func() (*selection.Choice, error) { return selection.EBIC(ctx, solver.Problem{}, selection.Settings{}) },
		"gamma":          func() (*selection.Choice, error) { return selection.EBIC(ctx, p, selection.Settings{Gamma: 2}) },
		"gamma of refit": func() (*selection.Choice, error) { return selection.Refit(ctx, p, selection.Settings{Gamma: -1}) },
		"threshold": func() (*selection.Choice, error) {
			return selection.StARS(ctx, from, nil, selection.Settings{Threshold: 0.5})
		},
		"one subsample": func() (*selection.Choice, error) {
			return selection.StARS(ctx, from, nil, selection.Settings{Subsamples: 1})
		},
		"one fold": func() (*selection.Choice, error) {
			return selection.HeldOut(ctx, from, nil, selection.Settings{Folds: 1})
		},
		"fewer permutations": func() (*selection.Choice, error) {
			return selection.Rotation(ctx, from, nil, selection.Settings{Permutations: -1})
		},
		"three samples":  func() (*selection.Choice, error) { return selection.StARS(ctx, few, nil, selection.Settings{}) },
		"no table":       func() (*selection.Choice, error) { return selection.HeldOut(ctx, nil, nil, selection.Settings{}) },
		"negative edges": func() (*selection.Choice, error) { return selection.Edges(ctx, p, -1, selection.Settings{}) },
	} {
		if got, err := err(); err == nil || got != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
