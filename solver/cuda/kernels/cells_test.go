//go:build linux && (amd64 || arm64)

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/glad"
)

// A launcher runs Z steps of a plan on the device, for all problems at once.
type launcher struct {
	*device
	networks *Networks
	spy      *spy
	d        int
	// generic takes the kernel for any network also where there is a better one.
	generic bool
	// inPlace overwrites Z and U.
	inPlace bool

	s, fixed vector
	// As posterior cells have them besides.
	rows, mean vector
}

func newLauncher(t *testing.T, dev *device, s *spy) *launcher {
	t.Helper()
	networks, err := Encode(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	l := &launcher{device: dev, networks: networks, spy: s, d: s.of[0].s.Len()}
	var all, fixed, rows []float64
	for _, p := range s.of {
		all = append(all, p.s.Raw()...)
		fixed = append(fixed, Fixed(p.shape, math.Sqrt(p.guessedSamples()))...)
		n, logS := p.nodes()
		rows = slices.Concat(rows, n, logS, slices.Repeat([]float64{math.NaN()}, 4*l.d))
	}
	l.s, l.fixed, l.rows, l.mean = filled(all), filled(fixed), filled(rows), memory(len(s.of))
	return l
}

// inputs are the matrices that a Z step begins with.
type inputs struct{ lambda, theta, z, u vector }

// gather makes one batch of what f is of cell k of every problem.
func (l *launcher) gather(k int, f func(c zStep) []float64) []float64 {
	var all []float64
	for _, cells := range l.spy.cells {
		all = append(all, f(cells[k-1])...)
	}
	return all
}

func (l *launcher) inputs(k int) inputs {
	of := func(f func(c zStep) []float64) vector { return filled(l.gather(k, f)) }
	return inputs{
		of(func(c zStep) []float64 { return []float64{c.lambda} }),
		of(func(c zStep) []float64 { return c.theta }),
		of(func(c zStep) []float64 { return c.z }),
		of(func(c zStep) []float64 { return c.u }),
	}
}

// step does the Z step of cell k and returns what kernels wrote. u is empty but for
// ADMMu.
func (l *launcher) step(t *testing.T, k int, in inputs) (z, u, norm2 []float64) {
	t.Helper()
	problems, d := len(l.spy.of), l.d
	network := l.networks.Cell(k)
	weights := network.Weights
	if l.generic {
		weights, network.Kernel = nil, PaperCellAny
		if l.spy.plan.Kind == glad.GLADPM {
			network.Kernel = PosteriorEntriesAny
		}
	}
	l.weights(weights)
	toZ, toU, out := memory(problems*d*d), memory(problems*d*d), memory(problems)
	if l.inPlace {
		toZ, toU = in.z, in.u
	}
	partial := memory(problems * int(Tiles(int64(d))))
	blocks, bytes := l.networks.Blocks(network.Kernel, int64(d), problems)
	scratch := memory(int(bytes / 8))
	description := filled(l.networks.Descriptions[network.At:])

	if l.spy.plan.Kind != glad.GLADPM {
		args := []any{toZ, null{}, partial, in.theta, l.s, in.z, null{}}
		outputs := []vector{toZ, partial}
		if l.spy.plan.Kind == glad.ADMMu {
			args[1], args[6] = toU, in.u
			outputs = append(outputs, toU)
		}
		if network.Kernel == PaperCellAny {
			args = append(args, in.lambda, l.fixed, description, scratch)
		}
		l.capped(t, network.Kernel, problems, blocks, outputs, append(args, d)...)
	} else {
		gain := l.spy.plan.Gain(k)
		l.twice(t, PosteriorRows, problems, []vector{l.rows}, l.rows, l.s, in.theta, in.z, in.lambda, d)
		l.twice(t, PosteriorMean, problems, []vector{l.mean}, l.mean, in.theta, d)
		diagonalBlocks, diagonalBytes := l.networks.Blocks(PosteriorDiagonal, int64(d), problems)
		l.capped(t, PosteriorDiagonal, problems, diagonalBlocks, []vector{toZ}, toZ, in.theta, in.z, l.rows, l.mean, in.lambda, l.fixed, gain,
			description, memory(int(diagonalBytes/8)), d)
		args := []any{toZ, partial, in.theta, in.z, l.rows, l.mean, in.lambda}
		switch network.Kernel {
		case PosteriorEntries9:
			args = append(args, gain)
		case PosteriorEntries11, PosteriorEntries18:
			args = append(args, l.fixed, gain)
		default:
			args = append(args, l.fixed, gain, description, scratch)
		}
		l.capped(t, network.Kernel, problems, blocks, []vector{toZ, partial}, append(args, d)...)
	}
	l.twice(t, Sum, problems, []vector{out}, out, partial, int(Tiles(int64(d))))
	return toZ.values(), toU.values(), out.values()
}

// check compares cells with what the CPU made of it.
func (l *launcher) check(t *testing.T) {
	t.Helper()
	last := len(l.spy.cells[0])
	for k := 1; k <= last; k++ {
		if k > 2 && k < last && (l.spy.plan.Entry(k) == 0 || l.d == 100) {
			continue // the network of another cell, or one of many that take long
		}
		z, u, norm2 := l.step(t, k, l.inputs(k))
		agree(t, fmt.Sprintf("cell %d, Z", k), z, l.gather(k, func(c zStep) []float64 { return c.newZ }), tolerance)
		for b, got := range norm2 {
			c := l.spy.cells[b][k-1]
			// Where Z is Θ but for rounding, their distance is that.
			rounding := 1e-15 * floats.Norm(c.theta, 2)
			if off := math.Abs(got - c.norm2); !(off <= tolerance*c.norm2+rounding*(math.Sqrt(c.norm2)+rounding)) {
				t.Fatalf("cell %d: ‖Z − Θ‖² is %v, want %v", k, got, c.norm2)
			}
		}
		if l.spy.plan.Kind == glad.ADMMu {
			agree(t, fmt.Sprintf("cell %d, U", k), u, l.gather(k, func(c zStep) []float64 { return c.newU }), tolerance)
		}
		d := l.d
		for at, v := range z {
			b, i, j := at/(d*d), at/d%d, at%d
			if v != z[b*d*d+j*d+i] {
				t.Fatalf("cell %d: Z is not symmetric", k)
			}
			if v == 0 && math.Signbit(v) {
				t.Fatalf("cell %d: entry (%d, %d) of Z is −0", k, i, j)
			}
		}
	}
}

// Every model that is built in has its kernel, and that and the one for any network
// compute what the CPU does. Two do with the latter: constant networks, and the model of
// the regulators' block, which is small.
func TestBuiltinModels(t *testing.T) {
	kernels := map[Kernel]bool{}
	general := []string{"constant-untrained", glad.RegulatorsModelName}
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			sizes(t, func(t *testing.T, c *cases) {
				l := newLauncher(t, c.device, watch(t, m, c.r, c.d, c.problems))
				l.check(t)
				for k := range m.Iterations {
					cell := l.networks.Cell(k + 1)
					kernels[cell.Kernel] = true
					if len(cell.Weights) == 0 && !slices.Contains(general, name) {
						t.Errorf("cell %d has no kernel of its own but %s", k+1, cell.Kernel)
					}
				}
				if c.d == 33 {
					l.generic = true
					l.check(t)
				}
			})
		})
	}
	for _, s := range shapes {
		if !kernels[s.kernel] {
			t.Errorf("no model that is built in needs %s", s.kernel)
		}
	}
}

func TestRandomModels(t *testing.T) {
	dev := emulated(t)
	for _, kind := range glad.Kinds() {
		var ran int
		for i := range 40 {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			m := modeltest.Random(r, kind)
			d, problems := []int{1, 2, 31, 33, 100}[i%5], 1+2*(i/5%2)
			t.Run(fmt.Sprintf("%s,%d", kind, i), func(t *testing.T) {
				l := newLauncher(t, dev, watch(t, m, r, d, problems))
				for _, cells := range l.spy.cells {
					if len(cells) < m.Iterations {
						return // the model leaves float64
					}
				}
				ran++
				l.check(t)
			})
		}
		if ran < 30 {
			t.Errorf("only %d of the 40 models of kind %s stay in float64", ran, kind)
		}
	}
}

// A NaN that goes in comes out, of its problem and no other.
func TestCellsWithNaN(t *testing.T) {
	dev := emulated(t)
	const d, problems, i, j = 35, 3, 3, 34
	nan := []float64{math.NaN()}
	r := rand.New(rand.NewPCG(3, 3))
	admmu := modeltest.Random(r, glad.ADMMu)
	admmu.Rho = glad.Network{Inputs: []glad.Feature{glad.S, glad.Z, glad.Lambda, glad.Context}, Layers: []glad.Layer{
		{Weights: [][]float64{{0.1, 0.1, 0.1, 0.1}}, Bias: []float64{0}, Activation: glad.Tanh},
	}}
	models := []*glad.Model{admmu}
	for _, name := range []string{"er-d100-m20-literal", "er-d100-m20-recipe", "er-d39-m15", "general-1", "general"} {
		m, err := glad.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	for _, m := range models {
		posterior, wide := m.Kind == glad.GLADPM, strings.HasPrefix(m.Name, "general")
		// entry says which entry of Z must be NaN where a number is set to NaN.
		try := func(l *launcher, what string, entry int, set func(in inputs) []float64) {
			t.Helper()
			in := l.inputs(2)
			place := set(in)
			was := place[0]
			copy(place, nan)
			z, u, norm2 := l.step(t, 2, in)
			place[0] = was
			if !math.IsNaN(z[entry]) || m.Kind == glad.ADMMu && !math.IsNaN(u[entry]) || !math.IsNaN(norm2[0]) {
				t.Errorf("%s, generic: %v, with NaN in %s: entry %v, distance %v", m.Name, l.generic, what, z[entry], norm2[0])
			}
			for at, v := range l.gather(2, func(c zStep) []float64 { return c.newZ })[d*d:] {
				if !(math.Abs(z[d*d+at]-v) < 1e-9) {
					t.Fatalf("%s: a NaN in %s of problem 0 makes entry %d of others %v, not %v", m.Name, what, at, z[d*d+at], v)
				}
			}
		}
		l := newLauncher(t, dev, watch(t, m, r, d, problems))
		for _, l.generic = range []bool{false, true} {
			for _, at := range []int{i*d + j, i*d + i} {
				try(l, "Θ", at, func(in inputs) []float64 { return in.theta.values()[at:] })
				try(l, "Z", at, func(in inputs) []float64 { return in.z.values()[at:] })
				if !posterior || at == i*d+i {
					try(l, "S", at, func(inputs) []float64 { return l.s.values()[at:] })
				}
				if m.Kind == glad.ADMMu {
					try(l, "U", at, func(in inputs) []float64 { return in.u.values()[at:] })
				}
				if posterior || m.Kind == glad.ADMMu {
					try(l, "λ", at, func(in inputs) []float64 { return in.lambda.values() })
				}
				if posterior {
					try(l, "n(i)", at, func(inputs) []float64 { return l.rows.values()[i:] })
				}
				if wide || m.Kind == glad.ADMMu {
					try(l, "the context", at, func(inputs) []float64 { return l.fixed.values() })
				}
			}
			if posterior {
				try(l, "log Sii", i*d+i, func(inputs) []float64 { return l.rows.values()[d+i:] })
			}
			if wide {
				try(l, "√M", i*d+j, func(inputs) []float64 { return l.fixed.values()[1:] })
			}
		}
	}
}

// Z and U may be overwritten: a cell reads no entry after another thread has written it.
func TestCellsInPlace(t *testing.T) {
	dev := emulated(t)
	const d, problems = 70, 2
	r := rand.New(rand.NewPCG(4, 4))
	for _, kind := range glad.Kinds() {
		m := modeltest.Random(r, kind)
		m.Iterations, m.Cells = 2, m.Cells[:min(1, len(m.Cells))]
		l := newLauncher(t, dev, watch(t, m, r, d, problems))
		wantZ, wantU, _ := l.step(t, 2, l.inputs(2))
		l.inPlace = true
		z, u, _ := l.step(t, 2, l.inputs(2))
		agree(t, "Z in place", z, wantZ, 0)
		if kind == glad.ADMMu {
			agree(t, "U in place", u, wantU, 0)
		}
	}
}
