package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// The gradient of the logarithm is that of the relative loss over the loss, and its
// derivative that of the mean of logarithms.
func TestLogarithmicLoss(t *testing.T) {
	m := posteriorMean(TablePosteriorMean, rand.New(rand.NewPCG(3, 3)))
	examples := chains(rand.New(rand.NewPCG(1, 2)), 3, 6, 12)
	examples[1].Samples, examples[2].Samples = 0, 5000 // not known, and more than count
	l := Loss{On: glad.LossOnZ, Gamma: 0.5, Logarithmic: true}
	mean := func(values []float64) (float64, []float64) {
		r := &run{settings: Settings{Batch: len(examples), Loss: l, Backend: glad.CPU{Engine: dense.Gonum{}}}, training: examples, state: &State{Values: values}}
		r.starts = []*glad.Model{m}
		if err := r.prepare(); err != nil {
			t.Fatal(err)
		}
		loss, ok, err := r.differentiate(t.Context(), []int{0, 1, 2})
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return loss, r.gradient
	}
	values := m.Values()
	loss, gradient := mean(values)
	var want float64
	for _, e := range examples {
		d, err := glad.NewDifferentiator(m, glad.CPU{Engine: dense.Gonum{}})
		if err != nil {
			t.Fatal(err)
		}
		relative, err := d.Gradient(t.Context(), e, glad.Loss{On: l.On, Gamma: l.Gamma, Relative: true}, 1, make([]float64, len(values)))
		if err != nil {
			t.Fatal(err)
		}
		want += math.Log(Floor(e)+relative) / float64(len(examples))
	}
	if math.Abs(loss-want) > 1e-12 {
		t.Errorf("the loss is %v, want %v", loss, want)
	}
	const step = 1e-5
	for i := 0; i < len(values); i += 97 {
		moved := append([]float64(nil), values...)
		moved[i] += step
		above, _ := mean(moved)
		moved[i] -= 2 * step
		below, _ := mean(moved)
		if slope := (above - below) / (2 * step); math.Abs(slope-gradient[i]) > 1e-6*(1+math.Abs(slope)) {
			t.Errorf("the derivative by parameter %d is %v, differences give %v", i, gradient[i], slope)
		}
	}
}

func TestFlooredNMSE(t *testing.T) {
	truth := dense.Identity(2)
	other := dense.Identity(2)
	other.Set(0, 0, 2) // ‖·‖² off by 1 of 2
	got, err := FlooredNMSE().Compute([]*solver.Estimate{{Support: truth}, {Support: other}}, []solver.Example{{Truth: truth, Samples: 8000}, {Truth: truth, Samples: 50}})
	if want := (-30 + 10*math.Log10(0.58)) / 2; err != nil || math.Abs(got-want) > 1e-12 {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
}
