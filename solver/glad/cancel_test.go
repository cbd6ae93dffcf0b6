package glad

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// countdown is a context that ends when it has been asked left times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// However far the solver is when the context ends, what it returns is the
// state after a whole number of cells.
func TestInterruptedAnywhere(t *testing.T) {
	const d, cells = 60, 3
	r := rand.New(rand.NewPCG(4, 1))
	a := randomCovariance(r, d, 20)
	for _, kind := range []Kind{GLAD, ADMMu} {
		m := paperModel(r, cells)
		m.Kind = kind
		m.Theta0Offset = 1e-20 // the hardest start that there is
		type state struct{ theta, z *dense.Sym }
		var states []state
		full, err := Solver{Model: m, Backend: CPU{Engine: dense.Gonum{}}}.Trajectory(context.Background(), solver.Problem{S: a}, func(s Step) {
			theta, z := pairOf(t, s)
			states = append(states, state{theta, z})
		})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for n := int64(0); ; n++ {
			ctx := &countdown{Context: context.Background()}
			ctx.left.Store(n)
			est, err := Solver{Model: m, Backend: CPU{Engine: dense.Gonum{}}}.Solve(ctx, solver.Problem{S: a})
			if err != nil {
				t.Fatal(err)
			}
			checkEstimate(t, est)
			seen[est.Iterations] = true
			if est.Iterations > 0 {
				s := states[est.Iterations-1]
				if distance(est.Precision, s.theta) != 0 || distance(est.Support, s.z) != 0 {
					t.Errorf("%s: the estimate is not the state after cell %d", kind, est.Iterations)
				}
			}
			if est.Status == solver.Completed {
				if distance(est.Precision, full.Precision) != 0 {
					t.Errorf("%s: a context that ends later changes Θ", kind)
				}
				break
			}
			if est.Status != solver.Interrupted {
				t.Errorf("%s: status %v", kind, est.Status)
			}
		}
		if len(seen) != cells+1 {
			t.Errorf("%s: interrupted after %v, want every number of cells from 0 to %d", kind, seen, cells)
		}
	}
}

func TestCancelledBeforehand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := dense.NewSym(2, []float64{4, 1, 1, 0.5})
	est, err := Solver{Backend: CPU{Engine: dense.Gonum{}}}.Solve(ctx, solver.Problem{S: s})
	if err != nil {
		t.Fatal(err)
	}
	if est.Status != solver.Interrupted || est.Iterations != 0 {
		t.Errorf("status %v after %d iterations", est.Status, est.Iterations)
	}
	if e := distance(est.Precision, dense.NewSym(2, []float64{0.25, 0, 0, 2})); e > 1e-15 {
		t.Errorf("the estimate is not the inverse of the diagonal: %v", est.Precision.Raw())
	}
}

// A kernel that has begun is not waited for.
func TestCancellationIsPrompt(t *testing.T) {
	const d = 500
	a := randomCovariance(rand.New(rand.NewPCG(4, 2)), d, 100)
	ctx, cancel := context.WithCancel(context.Background())
	kernel := &signalling{begun: make(chan struct{})}
	go func() {
		<-kernel.begun
		cancel()
	}()
	start := time.Now()
	est, err := Solver{Backend: CPU{Engine: kernel}}.Solve(ctx, solver.Problem{S: a})
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	checkEstimate(t, est)
	if est.Status != solver.Interrupted || est.Iterations != 0 {
		t.Errorf("status %v after %d iterations", est.Status, est.Iterations)
	}
	// The kernel alone lasts longer than this.
	if took > kernelTime/2 {
		t.Errorf("Solve returned %v after its start", took)
	}
}

const kernelTime = 2 * time.Second

// signalling is an engine whose eigendecomposition takes kernelTime and says
// when it begins.
type signalling struct {
	dense.Gonum
	begun chan struct{}
}

func (s *signalling) Eigen(n int, a, values []float64, _ *dense.Scratch) bool {
	close(s.begun)
	time.Sleep(kernelTime)
	// What is written now must not reach the estimate: the race detector sees
	// it if it does.
	for i := range a[:n*n] {
		a[i] = math.NaN()
	}
	return false
}

func TestRecorder(t *testing.T) {
	var told []solver.Iteration
	s := Solver{Backend: CPU{Engine: dense.Gonum{}}, Recorder: solver.RecorderFunc(func(it solver.Iteration) { told = append(told, it) })}
	est := solve(t, s, dense.NewSym(2, []float64{4, 1, 1, 0.5}))
	if len(told) != est.Iterations {
		t.Fatalf("told of %d iterations of %d", len(told), est.Iterations)
	}
	for i, it := range told {
		if it.Number != i+1 || it.Of != est.Iterations || !math.IsNaN(it.Objective) || !math.IsNaN(it.Gap) {
			t.Errorf("call %d: %+v", i+1, it)
		}
	}
}
