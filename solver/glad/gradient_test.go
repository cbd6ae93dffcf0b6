package glad

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func differentiator(t interface{ Fatal(...any) }, m *Model, e dense.Engine) *Differentiator {
	g, err := NewDifferentiator(m, CPU{Engine: e})
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
						part, err := g.Gradient(context.Background(), solver.Example{S: fromRows(s), Truth: fromRows(f.True[i])},
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
		m.Scaling = rapid.SampledFrom([]Scaling{{Mode: ScalingNone}, {Mode: ScalingCorrelation}, {Mode: ScalingCorrelation, MeanDiagonal: 0.35}, {Mode: ScalingGlobal, MeanDiagonal: 0.7}}).Draw(t, "scaling")
		s := drawCovariance(t, 20)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "truth"), 1))
		truth := randomCovariance(r, s.Len(), s.Len()+5)
		loss := Loss{On: rapid.SampledFrom([]LossOn{LossOnZ, LossOnTheta}).Draw(t, "on"), Gamma: rapid.Float64Range(0.5, 1).Draw(t, "gamma"), Relative: rapid.Bool().Draw(t, "relative")}
		for direction := range uint64(3) {
			if !checkGradient(t, m, dense.Gonum{}, s, truth, loss, direction) {
				t.Skip("no step tells the derivative")
			}
		}
	})
}

// checkGradient fails t unless the derivative of m's loss, in a direction drawn
// from a seed, is that of central differences. It reports whether those could
// tell.
//
// The loss is smooth but where an entry of some Θ or Z changes its sign or
// becomes zero: the step is one within which none does, over which differences
// converge, and over which the loss changes by more than rounding. There may be
// none; and as differences may agree by chance, one such step that gives the
// derivative is enough.
func checkGradient(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, m *Model, e dense.Engine, s, truth *dense.Sym, loss Loss, seed uint64,
) bool {
	values := m.Values()
	direction := make([]float64, len(values))
	r := rand.New(rand.NewPCG(seed, 2))
	for i := range direction {
		direction[i] = r.NormFloat64()
	}
	g, moved := differentiator(t, m, e), m.Clone()
	gradient := make([]float64, len(values))
	// at returns the loss of s a step away, and the signs there; gradient becomes
	// its derivatives.
	at := func(s *dense.Sym, step float64) (float64, []int8) {
		v := slices.Clone(values)
		floats.AddScaled(v, step, direction)
		g.SetValues(v)
		moved.SetValues(v)
		clear(gradient)
		l, err := g.Gradient(context.Background(), solver.Example{S: s, Truth: truth}, loss, 1/truth.Dot(truth), gradient)
		if err != nil {
			t.Fatal(err)
		}
		return l, signs(t, moved, e, s)
	}
	loss0, signs0 := at(s, 0)
	var want, size float64
	for i, g := range gradient {
		want += g * direction[i]
		size += math.Abs(g * direction[i])
	}
	// What rounding does to the loss is seen where S is rounded a little more.
	lossRounded, _ := at(rounded(s), 0)
	rounding := 1e-15*loss0 + math.Abs(lossRounded-loss0)

	var told, differences []float64 // differences over steps, each half of the one before
	for h := 1e-3; h >= 1e-7; h /= 2 {
		above, signsAbove := at(s, h)
		below, signsBelow := at(s, -h)
		if !slices.Equal(signsAbove, signs0) || !slices.Equal(signsBelow, signs0) {
			differences = nil
			continue
		}
		differences = append(differences, (above-below)/(2*h))
		n := len(differences)
		if n < 3 {
			continue
		}
		// Richardson: to the fourth order in h, a difference is four times as far
		// off as that over half the step.
		last := differences[n-3:]
		far := last[1] + (last[1]-last[0])/3
		near := last[2] + (last[2]-last[1])/3
		scale := max(size, math.Abs(near))
		if math.Abs(near-far) > 1e-5*scale || rounding/h > 1e-5*scale {
			continue
		}
		told = append(told, near)
		if math.Abs(near-want) <= 1e-6*scale+math.Abs(near-far)+10*rounding/h {
			return true
		}
	}
	if told != nil {
		t.Fatalf("the derivative is %v, differences from smaller and smaller steps give %v", want, told)
	}
	return false
}

// signs returns the signs of all entries of every cell's Θ and Z.
func signs(t interface{ Fatal(...any) }, m *Model, e dense.Engine, s *dense.Sym) []int8 {
	var all []int8
	_, err := Solver{Model: m, Backend: CPU{Engine: e}}.Trajectory(context.Background(), solver.Problem{S: s}, func(s Step) {
		theta, z := pairOf(t, s)
		for _, a := range []*dense.Sym{theta, z} {
			for _, v := range a.Raw() {
				all = append(all, int8(cmp.Compare(v, 0)))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
