package glad

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// tapeModels are one of each kind.
func tapeModels(r *rand.Rand) []*Model {
	admmu := paperModel(r, 3)
	admmu.Kind = ADMMu
	return []*Model{paperModel(r, 3), admmu, posteriorModel(r, 2, 2)}
}

// What a tape keeps has the bits of what it would compute again.
func TestTapeKeepsWhatItWouldCompute(t *testing.T) {
	const d = 60
	r := rand.New(rand.NewPCG(4, 1))
	s, truth := randomCovariance(r, d, d), randomCovariance(r, d, 2*d)
	for _, m := range tapeModels(r) {
		var losses []float64
		var gradients [][]float64
		for _, keep := range []bool{true, false} {
			g := differentiator(t, m, nil)
			session := g.session.(*cpuSession)
			tp := session.newTape(d)
			if tp.start == nil {
				t.Fatal("nothing is kept")
			}
			if !keep {
				tp.start = nil
				for k := range tp.kept {
					tp.kept[k].theta, tp.kept[k].activations = nil, nil
				}
			}
			session.free[d] = []*tape{tp}
			gradient := make([]float64, m.Parameters())
			loss, err := g.Gradient(context.Background(), solver.Example{S: s, Truth: truth}, Loss{On: LossOnZ, Gamma: 0.9}, 1, gradient)
			if err != nil {
				t.Fatal(err)
			}
			losses, gradients = append(losses, loss), append(gradients, gradient)
		}
		if losses[0] != losses[1] || !slices.Equal(gradients[0], gradients[1]) {
			t.Errorf("%s: loss %v and gradient\n%v, computed again %v and\n%v", m.Kind, losses[0], gradients[0], losses[1], gradients[1])
		}
	}
}

// Beyond one tile, where nothing is kept, the gradient is that of central
// differences.
func TestGradientBeyondOneTile(t *testing.T) {
	const d = tileColumns + 2
	r := rand.New(rand.NewPCG(4, 2))
	s, truth := randomCovariance(r, d, 2*d), randomCovariance(r, d, 3*d)
	for _, m := range tapeModels(r) {
		t.Run(fmt.Sprint(m.Kind), func(t *testing.T) {
			t.Parallel()
			if !checkGradient(t, m, dense.Default(), s, truth, Loss{On: LossOnZ, Gamma: 0.9}, 1) {
				t.Error("no step tells the derivative")
			}
		})
	}
}

// Tapes are used again, but not more of them are kept than tapesKept for each
// worker, and none that an interrupted kernel may still write to.
func TestFreeTapes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	m := paperModel(r, 2)
	var examples []solver.Example
	for d := 2; d < 12; d++ {
		examples = append(examples, solver.Example{S: randomCovariance(r, d, 2*d), Truth: randomCovariance(r, d, 3*d)})
	}
	g, err := NewDifferentiator(m, CPU{Engine: dense.Gonum{}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	session := g.session.(*cpuSession)
	kept := func() (n int) {
		for _, tapes := range session.free {
			n += len(tapes)
		}
		return n
	}
	for range 3 {
		for _, e := range examples {
			if _, err := g.Gradient(t.Context(), e, Loss{On: LossOnZ, Gamma: 1}, 1, make([]float64, m.Parameters())); err != nil {
				t.Fatal(err)
			}
			if n := kept(); n < 1 || n > tapesKept {
				t.Fatalf("%d free tapes", n)
			}
		}
	}
	last := examples[len(examples)-1]
	tp := session.take(last.S.Len())
	session.put(tp)
	if session.take(last.S.Len()) != tp {
		t.Error("a free tape is not used again")
	}
	clear(session.free)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Gradient(ctx, last, Loss{On: LossOnZ, Gamma: 1}, 1, make([]float64, m.Parameters())); !interrupted(err) {
		t.Errorf("the error is %v", err)
	}
	if kept() != 0 {
		t.Error("the tape of an interrupted gradient is kept")
	}
}
