//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// example is a covariance with a truth: a diagonally dominant matrix of few entries.
func example(r *rand.Rand, d, m int) solver.Example {
	p := sampled(r, d, m)
	truth := dense.NewSym(d, nil)
	for i := range d {
		truth.Set(i, i, 1.5)
		if i > 0 {
			truth.Set(i, i-1, 0.4*r.NormFloat64())
		}
	}
	return solver.Example{S: p.S, Samples: p.Samples, Truth: truth}
}

// gradientsOf are the losses and gradients on a backend.
func gradientsOf(t *testing.T, m *glad.Model, b glad.Backend, examples []solver.Example, loss glad.Loss) (losses []float64, gradients [][]float64) {
	t.Helper()
	g, err := glad.NewDifferentiator(m, b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	losses = make([]float64, len(examples))
	for range examples {
		gradients = append(gradients, make([]float64, m.Parameters()))
	}
	if err := g.Gradients(t.Context(), examples, loss, 0.25, losses, gradients); err != nil {
		t.Fatal(err)
	}
	return losses, gradients
}

// off is the distance of two gradients, of the length of the second.
func off(got, want []float64) float64 {
	var sum, length float64
	for i, v := range want {
		sum += (got[i] - v) * (got[i] - v)
		length += v * v
	}
	if sum == 0 {
		return 0 // no layer may depend on what is below
	}
	return math.Sqrt(sum / length)
}

// A shapeSet knows the shapes of networks, whatever their weights.
type shapeSet map[string]bool

// add reports whether no model before m had networks of its shape.
func (s shapeSet) add(m *glad.Model) bool {
	n := m.Rho
	if len(m.Cells) > 0 {
		n = m.Cells[0].Network
	}
	key := fmt.Sprint(m.Kind, n.Inputs)
	for _, l := range n.Layers {
		key += fmt.Sprintf(" %d %s", len(l.Bias), l.Activation)
	}
	was := s[key]
	s[key] = true
	return !was
}

// Gradients on the device are those of the CPU.
func TestGradients(t *testing.T) {
	b := opened(t)
	shapes := shapeSet{}
	for _, name := range glad.BuiltinNames() {
		m := model(t, name)
		first := shapes.add(m) || os.Getenv("GLADFLOW_LONG") != ""
		for _, d := range []int{1, 2, 31, 33, 100} {
			for i, loss := range []glad.Loss{{On: glad.LossOnZ, Gamma: 0.9}, {On: glad.LossOnTheta, Gamma: 1, Relative: true}} {
				if i > 0 && d == 100 || !first && (i > 0 || d != 31) {
					continue
				}
				t.Run(fmt.Sprintf("%s,d=%d,%s", name, d, loss.On), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(d), 11))
					examples := []solver.Example{example(r, d, 2*d+10)}
					wantLoss, want := gradientsOf(t, m, nil, examples, loss)
					gotLoss, got := gradientsOf(t, m, b, examples, loss)
					if e := math.Abs(gotLoss[0]-wantLoss[0]) / wantLoss[0]; !(e < tolerance) {
						t.Errorf("the loss is off by %.2g", e)
					}
					if e := off(got[0], want[0]); !(e < tolerance) {
						t.Errorf("the gradient is off by %.2g", e)
					}
				})
			}
		}
	}
}

// The same with any features, layers and activations, for batches of several dimensions:
// every example has the gradient that it has alone.
func TestGradientsOfRandomModels(t *testing.T) {
	b := opened(t)
	models, dimensions := 8, []int{12, 35, 12}
	if os.Getenv("GLADFLOW_LONG") != "" {
		models, dimensions = 40, []int{12, 35, 12, 70, 12}
	}
	for _, kind := range glad.Kinds() {
		var ran int
		for i := range models {
			r := rand.New(rand.NewPCG(uint64(i), 12))
			m := modeltest.Random(r, kind)
			var examples []solver.Example
			for _, d := range dimensions {
				examples = append(examples, example(r, d, 200))
			}
			loss := glad.Loss{On: []glad.LossOn{glad.LossOnZ, glad.LossOnTheta}[i%2], Gamma: 0.8}
			t.Run(fmt.Sprintf("%s,%d", kind, i), func(t *testing.T) {
				g, err := glad.NewDifferentiator(m, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := g.Gradient(t.Context(), examples[0], loss, 1, make([]float64, m.Parameters())); err != nil {
					return // the model leaves float64
				}
				ran++
				_, want := gradientsOf(t, m, nil, examples, loss)
				_, got := gradientsOf(t, m, b, examples, loss)
				for k := range examples {
					if e := off(got[k], want[k]); !(e < 1e-8) {
						t.Errorf("the gradient of example %d is off by %.2g", k, e)
					}
					if _, alone := gradientsOf(t, m, b, examples[k:k+1], loss); len(examples) > 1 && !(off(got[k], alone[0]) < 1e-9) {
						t.Errorf("example %d has another gradient alone: off by %.2g", k, off(got[k], alone[0]))
					}
				}
			})
		}
		if 4*ran < 3*models {
			t.Errorf("only %d of the %d models of kind %s stay in float64", ran, models, kind)
		}
	}
}

// A differentiator keeps its memory between calls and follows its parameters; the same call
// gives the same bits.
func TestGradientsAgain(t *testing.T) {
	b := opened(t)
	for _, name := range []string{"er-d100-m100-recipe", "general"} {
		m := model(t, name)
		r := rand.New(rand.NewPCG(3, 13))
		examples := []solver.Example{example(r, 20, 50), example(r, 9, 50), example(r, 20, 50)}
		loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
		on, err := glad.NewDifferentiator(m, b)
		if err != nil {
			t.Fatal(err)
		}
		cpu, err := glad.NewDifferentiator(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		values := m.Values()
		var first [][]float64
		for step := range 3 {
			at := slices.Clone(values)
			for i := range at {
				at[i] += 0.01 * float64(step%2) * r.NormFloat64()
			}
			var all [2][][]float64
			for k, g := range []*glad.Differentiator{on, cpu} {
				g.SetValues(at)
				for range examples {
					all[k] = append(all[k], make([]float64, len(values)))
				}
				if err := g.Gradients(t.Context(), examples, loss, 1, make([]float64, len(examples)), all[k]); err != nil {
					t.Fatal(err)
				}
			}
			for i := range examples {
				if e := off(all[0][i], all[1][i]); !(e < tolerance) {
					t.Errorf("%s, step %d: the gradient of example %d is off by %.2g", name, step, i, e)
				}
				if step == 2 && !slices.Equal(all[0][i], first[i]) {
					t.Errorf("%s: the gradient of example %d has other bits the second time", name, i)
				}
			}
			if step == 0 {
				first = all[0]
			}
		}
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Streams in any order, and work that is done late, change no bit.
func TestDeferredGradients(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	r := rand.New(rand.NewPCG(4, 14))
	examples := []solver.Example{example(r, 20, 50), example(r, 9, 50), example(r, 20, 50)}
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	for _, name := range []string{"general", "er-d100-m100-recipe"} {
		m := model(t, name)
		var first [][]float64
		for seed := range 4 {
			control.Set(t, "EMULATOR_DEFERRED", fmt.Sprint(seed)) // 0 is off
			_, got := gradientsOf(t, m, opened(t), examples, loss)
			for i := range got {
				if seed == 0 {
					first = got
				} else if !slices.Equal(got[i], first[i]) {
					t.Errorf("%s, seed %d: the gradient of example %d has other bits", name, seed, i)
				}
			}
		}
	}
}

// A spyBackend keeps its last session.
type spyBackend struct {
	*Backend
	session *session
}

func (b *spyBackend) Open(p *glad.Plan) (glad.Session, error) {
	s, err := b.Backend.Open(p)
	b.session, _ = s.(*session)
	return s, err
}

// Examples for which there is no memory together come one after the other, with the same
// bits; one for which there is none at all is refused with a sentence.
func TestGradientsInLittleMemory(t *testing.T) {
	b := opened(t)
	m := model(t, "er-d100-m100-recipe")
	r := rand.New(rand.NewPCG(5, 15))
	var examples []solver.Example
	for range 5 {
		examples = append(examples, example(r, 40, 100))
	}
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	_, want := gradientsOf(t, m, b, examples, loss)
	spy := &spyBackend{Backend: b}
	g, err := glad.NewDifferentiator(m, spy)
	if err != nil {
		t.Fatal(err)
	}
	one := spy.session.tapeBytes(40, 1)
	all := b.budget.free
	b.budget.free = one * 5 / 2
	_, got := gradientsOf(t, m, b, examples, loss)
	for i := range want {
		if e := off(got[i], want[i]); !(e < 1e-12) {
			t.Errorf("the gradient of example %d is off by %.2g", i, e)
		}
	}
	if b.budget.free != one*5/2 {
		t.Errorf("%d bytes are still taken", one*5/2-b.budget.free)
	}
	b.budget.free = one - 1
	_, err = g.Gradient(t.Context(), examples[0], loss, 1, make([]float64, m.Parameters()))
	var failed *driver.Error
	if !errors.As(err, &failed) || failed.Kind != driver.OutOfMemory || !strings.Contains(err.Error(), "training on an example of 40 variables takes") {
		t.Errorf("the error is %v", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	b.budget.free = all
}

// What a differentiator keeps between its calls is there for others that need it.
func TestMemoryOfATrainingIsThereForItsValidation(t *testing.T) {
	b := opened(t)
	m := model(t, "er-d100-m100-recipe")
	r := rand.New(rand.NewPCG(7, 17))
	e, p := example(r, 40, 100), sampled(r, 60, 100)
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	spy := &spyBackend{Backend: b}
	g, err := glad.NewDifferentiator(m, spy)
	if err != nil {
		t.Fatal(err)
	}
	all := b.budget.free
	b.budget.free = max(spy.session.tapeBytes(40, 1), spy.session.bytes(60, 1))
	room := b.budget.free
	for range 2 {
		if _, err := g.Gradient(t.Context(), e, loss, 1, make([]float64, m.Parameters())); err != nil {
			t.Fatal(err)
		}
		if b.budget.free == room {
			t.Error("the differentiator keeps nothing")
		}
		if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil || b.budget.free != room {
		t.Errorf("%v, %d bytes are still taken", err, room-b.budget.free)
	}
	b.budget.free = all
}

// What is cancelled ends soon, and the differentiator goes on.
func TestCancelledGradient(t *testing.T) {
	b := opened(t)
	m := model(t, "er-d100-m100-literal")
	e := example(rand.New(rand.NewPCG(6, 16)), 120, 200)
	g, err := glad.NewDifferentiator(m, b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	loss := glad.Loss{On: glad.LossOnZ, Gamma: 0.9}
	want, err := g.Gradient(t.Context(), e, loss, 1, make([]float64, m.Parameters()))
	if err != nil {
		t.Fatal(err)
	}
	cancelled := 0
	for i := range 6 {
		limit := time.Duration(i*i*20) * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		began := time.Now()
		_, err := g.Gradient(ctx, e, loss, 1, make([]float64, m.Parameters()))
		if late := time.Since(began) - limit; err != nil && late > 500*time.Millisecond {
			t.Errorf("it ends %v after its context", late)
		}
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			cancelled++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if cancelled == 0 {
		t.Error("nothing was cancelled")
	}
	got, err := g.Gradient(t.Context(), e, loss, 1, make([]float64, m.Parameters()))
	if err != nil || got != want {
		t.Errorf("the loss is %v, then %v, %v", want, got, err)
	}
}
