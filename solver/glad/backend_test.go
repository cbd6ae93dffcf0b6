package glad_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// models are one of each kind, among them one of each scaling.
func models(iterations int) []*glad.Model {
	r := rand.New(rand.NewPCG(11, 1))
	admmu := glad.PaperModel(r, iterations)
	admmu.Kind, admmu.Scaling = glad.ADMMu, glad.Scaling{Mode: glad.ScalingCorrelation}
	admmu.Rho.Inputs = []glad.Feature{glad.Theta, glad.NegThetaS, glad.Lambda}
	tied := glad.PosteriorModel(r, iterations, 1)
	tied.Scaling = glad.Scaling{Mode: glad.ScalingGlobal, MeanDiagonal: 0.8}
	tied.Threshold = 0.05
	return []*glad.Model{glad.PaperModel(r, iterations), admmu, tied, glad.PosteriorModel(r, iterations, iterations)}
}

// examples differ in dimension.
func examples(n int) []solver.Example {
	r := rand.New(rand.NewPCG(11, 2))
	var list []solver.Example
	for i := range n {
		d := 4 + i%2
		list = append(list, solver.Example{
			S: glad.RandomCovariance(r, d, 3*d), Samples: 3 * d,
			Truth: glad.RandomCovariance(r, d, 4*d),
		})
	}
	return list
}

// agree fails t unless the largest difference of got and want is within a part
// of the largest entry of want.
func agree(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	var largest, off float64
	for i, v := range want {
		largest, off = max(largest, math.Abs(v)), max(off, math.Abs(got[i]-v))
	}
	if !(off <= tolerance*largest) {
		t.Errorf("%s is off by %.3g of %.3g", what, off, largest)
	}
}

// Solver knows nothing of the CPU: on another backend it gives the same up to
// rounding, cell by cell.
func TestSolverOnAnotherBackend(t *testing.T) {
	const cells, tolerance = 4, 1e-9 // of the largest entry; measured 1e-13
	for _, m := range models(cells) {
		type seen struct {
			lambda, norm2 float64
			theta, z      []float64
		}
		run := func(b glad.Backend, p solver.Problem) (*solver.Estimate, []seen) {
			var all []seen
			told := 0
			s := glad.Solver{Model: m, Backend: b, Recorder: solver.RecorderFunc(func(solver.Iteration) { told++ })}
			est, err := s.Trajectory(t.Context(), p, func(s glad.Step) {
				theta, z, err := s.Pair()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, seen{s.Lambda, s.Norm2, slices.Clone(theta.Raw()), slices.Clone(z.Raw())})
			})
			if err != nil {
				t.Fatal(err)
			}
			if told != cells || len(all) != cells || est.Status != solver.Completed || est.Iterations != cells {
				t.Errorf("%s: %v after %d of %d cells, %d of them recorded, %d observed", m.Kind, est.Status, est.Iterations, cells, told, len(all))
			}
			return est, all
		}
		for _, e := range examples(2) {
			want, wantSteps := run(glad.CPU{}, e.Problem())
			got, gotSteps := run(&naiveBackend{}, e.Problem())
			agree(t, "Precision", got.Precision.Raw(), want.Precision.Raw(), tolerance)
			agree(t, "Support", got.Support.Raw(), want.Support.Raw(), tolerance)
			for k, w := range wantSteps {
				g := gotSteps[k]
				agree(t, "λ", []float64{g.lambda}, []float64{w.lambda}, tolerance)
				agree(t, "‖Z − Θ‖²F", []float64{g.norm2}, []float64{w.norm2}, tolerance)
				agree(t, "Θ", g.theta, w.theta, tolerance)
				agree(t, "Z", g.z, w.z, tolerance)
			}
		}
	}
}

// Many problems are a batch for each dimension, of which a device launches every
// step once.
func TestBatchesRunInStep(t *testing.T) {
	const cells = 4
	m := models(cells)[2]
	var problems []solver.Problem
	for _, e := range examples(7) {
		problems = append(problems, e.Problem())
	}
	b := &naiveBackend{}
	got, err := glad.Solver{Model: m, Backend: b}.SolveAll(t.Context(), problems)
	if err != nil {
		t.Fatal(err)
	}
	// Two dimensions, each with Initial and the cells.
	if want := int64(2 * (1 + cells)); b.launches.Load() != want {
		t.Errorf("%d launches for 7 problems of two dimensions, want %d", b.launches.Load(), want)
	}
	if b.open.Load() != 0 {
		t.Errorf("%d sessions are open", b.open.Load())
	}
	want, err := glad.Solver{Model: m}.SolveAll(t.Context(), problems)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		one, err := glad.Solver{Model: m}.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one.Precision.Raw(), want[i].Precision.Raw()) || !slices.Equal(one.Support.Raw(), want[i].Support.Raw()) {
			t.Errorf("problem %d has other bits among others than alone", i)
		}
		agree(t, "Precision", got[i].Precision.Raw(), one.Precision.Raw(), 1e-9)
	}
}

// The adjoint of the naive backend is central differences of its own cells, so
// that it also checks that of the CPU. Their error is about 1e-9.
func TestGradientOnAnotherBackend(t *testing.T) {
	for i, m := range models(3) {
		losses := []glad.Loss{{On: glad.LossOnZ, Gamma: 0.8, Relative: true}, {On: glad.LossOnTheta, Gamma: 1}}
		t.Run(fmt.Sprintf("%s,%d", m.Kind, len(m.Cells)), func(t *testing.T) {
			t.Parallel()
			loss, list := losses[i%2], examples(3)
			run := func(b glad.Backend) (losses []float64, gradients [][]float64) {
				g, err := glad.NewDifferentiator(m, b)
				if err != nil {
					t.Fatal(err)
				}
				losses = make([]float64, len(list))
				for range list {
					gradients = append(gradients, make([]float64, m.Parameters()))
				}
				if err := g.Gradients(t.Context(), list, loss, 0.5, losses, gradients); err != nil {
					t.Fatal(err)
				}
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
				return losses, gradients
			}
			wantLosses, want := run(glad.CPU{})
			gotLosses, got := run(&naiveBackend{})
			agree(t, string(m.Kind)+" loss", gotLosses, wantLosses, 1e-9)
			for i := range list {
				agree(t, string(m.Kind)+" gradient", got[i], want[i], 1e-6)
			}
		})
	}
}

// A training runs on another backend, to the same model up to what Adam makes of
// the error of differences.
func TestTrainingOnAnotherBackend(t *testing.T) {
	m := models(2)[2]
	m.Threshold = 0
	list := examples(6)
	run := func(b glad.Backend) *train.Result {
		r, err := train.Run(t.Context(), []*glad.Model{m}, list[:4], list[4:], train.Settings{Steps: 4, Batch: 3, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b := &naiveBackend{}
	want, got := run(glad.CPU{}), run(b)
	if got.BestStep != want.BestStep {
		t.Errorf("the best step is %d, want %d", got.BestStep, want.BestStep)
	}
	agree(t, "the model", got.Model.Values(), want.Model.Values(), 1e-5)
	agree(t, "the validation", []float64{got.Validation}, []float64{want.Validation}, 1e-5)
	if b.open.Load() != 0 {
		t.Errorf("%d sessions are open", b.open.Load())
	}
}

func TestInterruptedOnAnotherBackend(t *testing.T) {
	m, p := models(4)[0], examples(1)[0].Problem()
	ctx, cancel := context.WithCancel(t.Context())
	var want []float64
	est, err := glad.Solver{Model: m, Backend: &naiveBackend{}}.Trajectory(ctx, p, func(s glad.Step) {
		if s.Iteration == 2 {
			theta, _, _ := s.Pair()
			want = slices.Clone(theta.Raw())
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if est.Status != solver.Interrupted || est.Iterations != 2 || !slices.Equal(est.Precision.Raw(), want) {
		t.Errorf("%v after %d iterations", est.Status, est.Iterations)
	}
	// Of several problems those that have not begun are interrupted too.
	all, err := glad.Solver{Model: m, Backend: glad.CPU{Workers: 2}}.SolveAll(ctx, []solver.Problem{p, p, p})
	if err != nil {
		t.Fatal(err)
	}
	for i, est := range all {
		if est.Status != solver.Interrupted || math.Abs(est.Precision.At(0, 0)*p.S.At(0, 0)-1) > 1e-15 {
			t.Errorf("problem %d: %v with Θ = %v", i, est.Status, est.Precision.Raw())
		}
	}
}

// A backend that cannot go back solves, and says that it does not train.
func TestBackendWithoutAdjoint(t *testing.T) {
	m, e := models(2)[0], examples(1)[0]
	b := &naiveBackend{forward: true}
	if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), e.Problem()); err != nil {
		t.Fatal(err)
	}
	_, err := train.Run(t.Context(), []*glad.Model{m}, []solver.Example{e}, []solver.Example{e}, train.Settings{Backend: b})
	if err == nil || !strings.Contains(err.Error(), "the backend naive has no derivatives") {
		t.Errorf("the error is %v", err)
	}
	if b.open.Load() != 0 {
		t.Errorf("%d sessions are open", b.open.Load())
	}
}

// Errors of a backend reach the caller.
func TestBackendFails(t *testing.T) {
	m, p := models(3)[0], examples(1)[0].Problem()
	lost := errors.New("the device is lost")
	for when := range 4 { // Open, Initial, the second cell, Pair
		b := &naiveBackend{failure: lost, when: when}
		if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), p); !errors.Is(err, lost) {
			t.Errorf("failure %d: the error is %v", when, err)
		}
		if b.open.Load() != 0 {
			t.Errorf("failure %d: %d sessions are open", when, b.open.Load())
		}
	}
	if _, err := (glad.Solver{Model: m}).SolveAll(t.Context(), []solver.Problem{p, {S: dense.NewSym(1, nil)}}); err == nil {
		t.Error("a variance of 0 is solved with")
	}
	for _, b := range []glad.Backend{glad.CPU{}, &naiveBackend{}} {
		if none, err := (glad.Solver{Model: m, Backend: b}).SolveAll(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("%s makes %d estimates of no problem: %v", b.Name(), len(none), err)
		}
	}
}
