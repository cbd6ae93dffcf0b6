package glad

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// randomCovariance is that of m samples of d variables that share a few hidden
// factors.
func randomCovariance(r *rand.Rand, d, m int) *dense.Sym {
	x := make([]float64, m*d)
	for i := range m {
		f := r.NormFloat64()
		for j := range d {
			x[i*d+j] = r.NormFloat64() + f*math.Sin(float64(j))/2
		}
	}
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Gonum{}, d).Gram(s, 1/float64(m), x, m, 0)
	return s
}

// paperModel is the architecture of the paper with random weights.
func paperModel(r *rand.Rand, iterations int) *Model {
	m := &Model{
		Name: "random", Kind: GLAD, Iterations: iterations, Theta0Offset: 1, Lambda0: 1,
		Rho:     randomNetwork(r, []Feature{Theta, S, Z}, []int{3, 3, 3, 1}, Sigmoid),
		Lambda:  randomNetwork(r, []Feature{Norm2, Lambda}, []int{3, 1}, Sigmoid),
		Scaling: Scaling{Mode: ScalingNone},
	}
	m.Rho.Layers[3].Bias[0] = -2
	return m
}

func randomNetwork(r *rand.Rand, inputs []Feature, units []int, last Activation) Network {
	n := Network{Inputs: inputs}
	below := len(inputs)
	for i, u := range units {
		l := Layer{Activation: Tanh}
		if i == len(units)-1 {
			l.Activation = last
		}
		for range u {
			row := make([]float64, below)
			for j := range row {
				row[j] = (2*r.Float64() - 1) / math.Sqrt(float64(below))
			}
			l.Weights = append(l.Weights, row)
			l.Bias = append(l.Bias, 2*r.Float64()-1)
		}
		n.Layers = append(n.Layers, l)
		below = u
	}
	return n
}

// BenchmarkCell compares the two steps of one cell.
func BenchmarkCell(b *testing.B) {
	engine := dense.Default()
	for _, d := range []int{100, 1000} {
		r := rand.New(rand.NewPCG(1, uint64(d)))
		s := randomCovariance(r, d, d)
		m := paperModel(r, 1)
		ctx := context.Background()
		c := loaded(b, m, s, engine)
		if err := c.Initial(ctx, 1); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("Theta/d=%d", d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.thetaStep(ctx, 0.5); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("Z/d=%d", d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				z := c.pair.z
				if _, err := c.advance(ctx, 0.5, c.spare, c.u); err != nil {
					b.Fatal(err)
				}
				c.spare = z
			}
		})
	}
}

func BenchmarkActivations(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 1024), make([]float64, 1024)
	for i := range x {
		x[i] = 2 * r.NormFloat64()
	}
	for _, f := range vectored {
		for name, version := range f.versions {
			b.Run(f.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					copy(y, x)
					version(y)
				}
			})
		}
	}
	b.Run("tanh/math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = math.Tanh(v)
			}
		}
	})
}

// BenchmarkEntries is the entry-wise part of each kind of cell, forward and
// adjoint, on one core.
func BenchmarkEntries(b *testing.B) {
	const d = 100
	r := rand.New(rand.NewPCG(1, 3))
	s := randomCovariance(r, d, d)
	admmu := paperModel(r, 1)
	admmu.Kind = ADMMu
	for _, m := range []*Model{paperModel(r, 1), admmu, posteriorModel(r, 1, 1)} {
		session, err := CPU{}.Open(m.plan(false))
		if err != nil {
			b.Fatal(err)
		}
		t := session.(*cpuSession).newTape(d)
		t.load(session.(*cpuSession), solver.Example{S: s, Truth: s}, Loss{On: LossOnZ, Gamma: 1}, 1)
		if err := t.Initial(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
		if err := t.thetaStep(b.Context(), 0.5); err != nil {
			b.Fatal(err)
		}
		theta, u := t.next, t.iterates.u
		b.Run(string(m.Kind)+"/forward", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := operands{theta: theta, s: s, z: t.zs[0], toZ: t.zs[1], u: u}
				if u != nil {
					o.toU = t.us[1]
				}
				t.sweep.workers[0].kept = t.kept[0].activations
				if _, err := t.sweep.run(b.Context(), 1, 0.5, o); err != nil {
					b.Fatal(err)
				}
			}
		})
		t.byNorm2 = 0.1
		b.Run(string(m.Kind)+"/adjoint", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t.adjointZ(1, 0.5)
			}
		})
	}
}

// BenchmarkGradient is one covariance of a training step, on one core.
func BenchmarkGradient(b *testing.B) {
	const d = 100
	r := rand.New(rand.NewPCG(2, d))
	s, truth := randomCovariance(r, d, d), randomCovariance(r, d, 2*d)
	for _, m := range []*Model{paperModel(r, 30), posteriorModel(r, 5, 5), posteriorModel(r, 8, 1)} {
		b.Run(fmt.Sprintf("%s/K=%d,parameters=%d", m.Kind, m.Iterations, m.Parameters()), func(b *testing.B) {
			g := differentiator(b, m, nil)
			gradient := make([]float64, m.Parameters())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Gradient(context.Background(), solver.Example{S: s, Truth: truth}, Loss{On: LossOnZ, Gamma: 0.9}, 1, gradient); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// posteriorModel is of the architecture of GLADPM, with random weights.
func posteriorModel(r *rand.Rand, iterations, cells int) *Model {
	m := paperModel(r, iterations)
	m.Name, m.Kind, m.Rho = "posterior", GLADPM, Network{}
	inputs := []Feature{AbsU, LogV, ScaledU, PriorZ, UZ, Diagonal, NodeContext, NodeSupport, MeanDiagonal}
	units := []int{6, 6, 3}
	if cells == 1 {
		units = []int{4, 3}
	}
	for range cells {
		m.Cells = append(m.Cells, PosteriorMean{Step: -1, Network: randomNetwork(r, inputs, units, Identity)})
	}
	return m
}
