package glad

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"pgregory.net/rapid"
)

func differentiator(t interface{ Fatal(...any) }, m *Model, e dense.Engine) *Differentiator {
	g, err := NewDifferentiator(m, e)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGradientFixtures(t *testing.T) {
	for _, f := range readFixtures(t) {
		for _, engine := range testEngines() {
			g := differentiator(t, f.model(), engine)
			for _, l := range f.Losses {
				t.Run(fmt.Sprintf("d=%d,K=%d/%s,%v/%s", f.D, f.K, l.On, l.Gamma, engine.Name()), func(t *testing.T) {
					gradient := make([]float64, len(l.Gradient))
					var loss float64
					for i, s := range f.S {
						part, err := g.Gradient(context.Background(), solver.Problem{S: fromRows(s)}, fromRows(f.True[i]),
							Loss{On: l.On, Gamma: l.Gamma}, 1/float64(len(f.S)), gradient)
						if err != nil {
							t.Fatal(err)
						}
						loss += part
					}
					if e := math.Abs(loss/l.Loss - 1); e > 1e-10 {
						t.Errorf("the loss is %v, want %v", loss, l.Loss)
					}
					var largest float64
					for _, v := range l.Gradient {
						largest = max(largest, math.Abs(v))
					}
					for i, want := range l.Gradient {
						if e := math.Abs(gradient[i] - want); e > 1e-8*max(1, math.Abs(want)) || e > 1e-8*largest {
							t.Errorf("derivative %d is %v, want %v", i, gradient[i], want)
						}
					}
				})
			}
		}
	}
}

// The gradient of any architecture is that of central differences.
func TestGradientAgainstDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 0.7, Sigmoid, Exp)
		m.Iterations = min(m.Iterations, 5)
		if len(m.Cells) > 1 {
			m.Cells = m.Cells[:m.Iterations]
		}
		m.Scaling = rapid.SampledFrom([]Scaling{{Mode: ScalingNone}, {Mode: ScalingCorrelation}, {Mode: ScalingGlobal, MeanDiagonal: 0.7}}).Draw(t, "scaling")
		s := drawCovariance(t, 20)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "truth"), 1))
		truth := randomCovariance(r, s.Len(), s.Len()+5)
		loss := Loss{On: rapid.SampledFrom([]LossOn{LossOnZ, LossOnTheta}).Draw(t, "on"), Gamma: rapid.Float64Range(0.5, 1).Draw(t, "gamma"), Relative: rapid.Bool().Draw(t, "relative")}
		weight := 1 / truth.Dot(truth)
		g := differentiator(t, m, dense.Gonum{})
		values := m.Values()
		at := func(step, direction float64) float64 {
			v := append([]float64(nil), values...)
			rd := rand.New(rand.NewPCG(math.Float64bits(direction), 2))
			for i := range v {
				v[i] += step * rd.NormFloat64()
			}
			g.SetValues(v)
			gradient := make([]float64, len(v))
			l, err := g.Gradient(context.Background(), solver.Problem{S: s}, truth, loss, weight, gradient)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		gradient := make([]float64, len(values))
		if _, err := g.Gradient(context.Background(), solver.Problem{S: s}, truth, loss, weight, gradient); err != nil {
			t.Fatal(err)
		}
		for direction := range 3 {
			var want float64
			rd := rand.New(rand.NewPCG(math.Float64bits(float64(direction)), 2))
			var size float64
			for i := range gradient {
				v := rd.NormFloat64()
				want += gradient[i] * v
				size += math.Abs(gradient[i] * v)
			}
			// Thresholds make kinks, which a difference may straddle: one of
			// the steps must agree.
			best, tried := math.Inf(1), []float64{}
			for _, h := range []float64{1e-4, 1e-5, 1e-6} {
				got := (at(h, float64(direction)) - at(-h, float64(direction))) / (2 * h)
				best = min(best, math.Abs(got-want))
				tried = append(tried, got)
			}
			if best > 1e-5*(size+1e-3*at(0, 0)) {
				t.Fatalf("the derivative in direction %d is %v, differences give %v", direction, want, tried)
			}
		}
	})
}
