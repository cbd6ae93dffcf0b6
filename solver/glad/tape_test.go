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
