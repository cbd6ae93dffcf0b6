package training

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// testStream is that of graphs on which nothing was trained or chosen, and
// testSeed one that no training had.
const (
	testStream = 3
	testSeed   = 20261121
)

// unseen draws n networks of f with one covariance of m samples each.
func unseen(t *testing.T, f simulate.Family, m, n int) []solver.Example {
	t.Helper()
	examples := make([]solver.Example, n)
	for k := range examples {
		rng := stream(testSeed, testStream, uint64(k))
		theta, err := f.Precision(rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate.Covariance(t.Context(), rng, theta, m)
		if err != nil {
			t.Fatal(err)
		}
		examples[k] = solver.Example{S: s, Truth: theta, Samples: m}
	}
	return examples
}

func builtin(t *testing.T, name string) *glad.Model {
	t.Helper()
	m, err := glad.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// correlationAUROC is the mean AUROC of |correlation|.
func correlationAUROC(t *testing.T, examples []solver.Example) float64 {
	t.Helper()
	var sum float64
	for _, e := range examples {
		var scores []float64
		var positive []bool
		for i := range e.S.Len() {
			for j := i + 1; j < e.S.Len(); j++ {
				scores = append(scores, math.Abs(e.S.At(i, j))/math.Sqrt(e.S.At(i, i)*e.S.At(j, j)))
				positive = append(positive, e.Truth.At(i, j) != 0)
			}
		}
		r, err := metric.Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		sum += r.AUROC / float64(len(examples))
	}
	return sum
}

// The shipped weights do on unseen graphs what they were trained for: the bars
// are what is asked of them, or two standard errors over what was measured.
// Nothing may be better than the Bayes posterior mean of the generator (with 100
// variables −9.02, −10.22 and −15.79 dB on other graphs, with 39 on these) by
// more than graphs differ.
func TestShippedModels(t *testing.T) {
	for _, c := range []struct {
		dimension, samples, graphs int
		density                    float64
		bars                       map[string]float64 // NMSE of Z in decibels by the end of the name
		bayes                      float64
		ranking                    float64 // AUROC above that of |correlation|
	}{
		{100, 20, 24, 0.1, map[string]float64{"-literal": -7.85, "-recipe": -8.75, "": -8.93}, -9.02, -0.003},
		{100, 100, 24, 0.1, map[string]float64{"-literal": -9.35, "-recipe": -9.75, "": -10.15}, -10.22, -0.003},
		{100, 500, 24, 0.1, map[string]float64{"-literal": -14.75, "-recipe": -14.75, "": -15.45}, -15.79, 0.010},
		{39, 15, 100, 0.05, map[string]float64{"": -11.01}, -11.34, 0},
		{39, 35, 100, 0.05, map[string]float64{"": -11.71}, -12.02, 0},
		{39, 100, 100, 0.05, map[string]float64{"": -14.2}, -14.66, 0},
	} {
		f := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: c.dimension, Density: c.density}
		examples := unseen(t, f, c.samples, c.graphs)
		correlation := correlationAUROC(t, examples)
		for suffix, bar := range c.bars {
			name := fmt.Sprintf("er-d%d-m%d%s", c.dimension, c.samples, suffix)
			t.Run(name, func(t *testing.T) {
				_, figures, err := evaluate(t.Context(), builtin(t, name), examples, glad.CPU{})
				if err != nil {
					t.Fatal(err)
				}
				nmse, spread := float64(figures.Metrics.Get("nmse_db")), float64(figures.Metrics.Get("nmse_db_standard_error"))
				t.Logf("NMSE of Z %.3f ± %.3f dB over %d graphs, AUROC %.4f, |correlation| %.4f", nmse, spread, figures.Graphs, figures.Metrics.Get("auroc"), correlation)
				if nmse > bar {
					t.Errorf("NMSE %.3f dB, it should be %v", nmse, bar)
				}
				if nmse < c.bayes-4*spread {
					t.Errorf("NMSE %.3f dB is better than the Bayes limit of about %v can be", nmse, c.bayes)
				}
				if suffix == "" && float64(figures.Metrics.Get("auroc")) < correlation+c.ranking {
					t.Errorf("AUROC %.4f, |correlation| has %.4f", figures.Metrics.Get("auroc"), correlation)
				}
			})
		}
	}
}

// Where there are samples enough to tell edges, the support is nearly as sparse
// as the network, whose edges are a tenth of the pairs.
func TestShippedSupportIsSparse(t *testing.T) {
	examples := unseen(t, simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: 100}, 500, 24)
	var pairs, found, right, edges float64
	for _, e := range examples {
		est, err := glad.Solver{Model: builtin(t, "er-d100-m500")}.Solve(t.Context(), solver.Problem{S: e.S, Samples: e.Samples})
		if err != nil {
			t.Fatal(err)
		}
		for i := range e.S.Len() {
			for j := range i {
				edge, is := e.Truth.At(i, j) != 0, est.Support.At(i, j) != 0
				pairs++
				edges += count(edge)
				found += count(is)
				right += count(edge && is)
			}
		}
	}
	t.Logf("%.3f of the pairs are edges, %.3f in the support, of which %.3f are edges: recall %.3f", edges/pairs, found/pairs, right/found, right/edges)
	if found > 0.15*pairs || right < 0.5*found || right < 0.6*edges {
		t.Error("the support is not as sparse, or not as right, as it was")
	}
}

func count(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// The general model is exactly scale-equivariant, and sane where d ≫ M.
func TestGeneralModel(t *testing.T) {
	m := builtin(t, "general")
	solve := func(t *testing.T, s *dense.Sym) *solver.Estimate {
		est, err := glad.Solver{Model: m}.Solve(t.Context(), solver.Problem{S: s})
		if err != nil {
			t.Fatal(err)
		}
		if est.Status != solver.Completed {
			t.Fatalf("status %v", est.Status)
		}
		if _, ok := dense.NewWorkspace(dense.Gonum{}, s.Len()).LogDet(est.Precision, make([]float64, s.Len()*s.Len())); !ok {
			t.Error("the precision matrix is not positive definite")
		}
		return est
	}
	nmse := func(est *solver.Estimate, truth *dense.Sym, scale float64) float64 {
		var n metric.NMSE
		z := est.Support.Clone()
		z.Scale(scale)
		if err := n.Add(z, truth); err != nil {
			t.Fatal(err)
		}
		v, _, err := n.Decibels()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Run("scales", func(t *testing.T) {
		e := unseen(t, simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: 60}, 100, 1)[0]
		want := nmse(solve(t, e.S), e.Truth, 1)
		for _, scale := range []float64{9, 1e-4, 1e8} {
			s := e.S.Clone()
			s.Scale(scale)
			if got := nmse(solve(t, s), e.Truth, scale); math.Abs(got-want) > 1e-6 {
				t.Errorf("NMSE %v dB where S is multiplied by %v, %v where not", got, scale, want)
			}
		}
	})
	t.Run("d=1000,M=100", func(t *testing.T) {
		if dense.Default().Name() == (dense.Gonum{}).Name() {
			t.Skip("without OpenBLAS this takes half a minute")
		}
		e := unseen(t, simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: 1000, Density: 0.005}, 100, 1)[0]
		// In standardised units, as the model works: an equal diagonal is no merit of it.
		truth, err := simulate.Standardize(e.Truth)
		if err != nil {
			t.Fatal(err)
		}
		r := e.S.Clone()
		for i := range r.Len() {
			for j := range i + 1 {
				r.Set(i, j, e.S.At(i, j)/math.Sqrt(e.S.At(i, i)*e.S.At(j, j)))
			}
		}
		got := nmse(solve(t, r), truth, 1)
		t.Logf("NMSE of Z %.3f dB", got)
		// The model before, which was judged by −9.7 in original units, has −9.21 here.
		if got > -9.45 {
			t.Errorf("NMSE %.3f dB, it should be -9.45", got)
		}
	})
	// On the demonstration it ranks at least as well as constant networks.
	t.Run("demo", func(t *testing.T) {
		j, err := simulation.Demo(t.Context(), t.TempDir(), recovery.SelfSufficient())
		if err != nil {
			t.Fatal(err)
		}
		j.Solvers, j.Out = []string{"glad"}, ""
		figures := func(model string) job.SolverResult {
			j.Model = model
			r, err := recovery.Run(context.Background(), j, recovery.Host{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Solvers[0]
		}
		general, constant := figures("general"), figures("constant-untrained")
		t.Logf("general %+v, constant %+v", general.Metrics, constant.Metrics)
		if general.Metrics.Get("auroc") < constant.Metrics.Get("auroc") || general.Metrics.Get("aupr") < constant.Metrics.Get("aupr") {
			t.Error("the general model ranks worse than constant networks")
		}
	})
}
