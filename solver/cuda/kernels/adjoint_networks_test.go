//go:build linux && (amd64 || arm64)

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/internal/modeltest"
	"github.com/gladflow/gladflow/solver/glad"
)

// adjointTolerance is that of the way back through networks, as a part of the largest number.
const adjointTolerance = 1e-11

// A backwards is the way back through the Z steps of some problems, on the device.
type backwards struct {
	*cases
	steps       []*modeltest.ZStep
	networks    *Networks
	network     Network
	description vector

	theta, s, z, u, toZ, byZ, byU, rows vector // before
	byNorm2, lambda, mean, fixed        vector
}

func newBackwards(t *testing.T, c *cases, p *glad.Plan, k int) *backwards {
	t.Helper()
	networks, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	w := &backwards{cases: c, networks: networks, network: networks.Cell(k)}
	for range c.problems {
		s := modeltest.RandomStep(c.r, p, k, c.d)
		w.steps = append(w.steps, s)
		s.Gain = w.steps[0].Gain // which problems share
	}
	of := func(f func(s *modeltest.ZStep) []float64) vector {
		var all []float64
		for _, s := range w.steps {
			all = append(all, f(s)...)
		}
		return filled(all)
	}
	w.description = filled(networks.Descriptions[w.network.At:])
	w.theta = of(func(s *modeltest.ZStep) []float64 { return s.Theta })
	w.s = of(func(s *modeltest.ZStep) []float64 { return s.S })
	w.z = of(func(s *modeltest.ZStep) []float64 { return s.Z })
	w.u = of(func(s *modeltest.ZStep) []float64 { return s.U })
	w.toZ = of(func(s *modeltest.ZStep) []float64 { return s.Step() })
	w.byZ = of(func(s *modeltest.ZStep) []float64 { return s.ByZ })
	w.byU = of(func(s *modeltest.ZStep) []float64 { return s.ByU })
	w.rows = of((*modeltest.ZStep).Rows)
	w.byNorm2 = of(func(s *modeltest.ZStep) []float64 { return []float64{s.ByNorm2} })
	w.lambda = of(func(s *modeltest.ZStep) []float64 { return []float64{s.Lambda} })
	w.mean = of(func(s *modeltest.ZStep) []float64 { return []float64{s.Mean} })
	w.fixed = of(func(s *modeltest.ZStep) []float64 { return Fixed(s.Shape, s.RootSamples) })
	return w
}

// names are those of the outputs of run.
var names = []string{"by Θ", "by Z", "by U or log σ", "by q", "by the weights", "by λ, the mean and the gain"}

// run goes back, and returns what kernels wrote: matrices of every problem, then the
// derivatives by the weights, then the sums. What the kind does not have is empty.
func (w *backwards) run(t *testing.T) []vector {
	t.Helper()
	d, p, size := w.d, w.steps[0].Plan, w.problems*w.d*w.d
	slots := int(Slots(int64(d)))
	length := w.network.Length + CellSums
	byTheta, byZ, byU, bySupport := memory(size), filled(w.byZ.values()), filled(w.byU.values()), memory(0)
	perSlot := memory(w.problems * (slots + 1) * length)
	launch := func(k Kernel, outputs []vector, args ...any) {
		t.Helper()
		blocks, bytes := w.networks.AdjointBlocks(k, int64(d), w.problems)
		w.capped(t, k, w.problems, blocks, outputs, append(args, w.description, memory(int(bytes/8)), length, d)...)
	}
	count := slots
	if p.Kind != glad.GLADPM {
		args := []any{byTheta, byZ, null{}, perSlot, w.theta, w.s, w.z, w.toZ, null{}, w.byNorm2, w.lambda, w.fixed}
		outputs := []vector{byTheta, byZ, perSlot}
		if p.Kind == glad.ADMMu {
			args[2], args[8] = byU, w.u
			outputs = append(outputs, byU)
		}
		launch(PaperAdjoint, outputs, args...)
	} else {
		count++
		byU, bySupport = memory(size), memory(size)
		for _, k := range []Kernel{PosteriorAdjointEntries, PosteriorAdjointDiagonal} {
			launch(k, []vector{byTheta, byZ, byU, bySupport, perSlot}, byTheta, byZ, byU, bySupport, perSlot,
				w.theta, w.z, w.toZ, w.rows, w.mean, w.byNorm2, w.lambda, w.fixed, w.steps[0].Gain)
		}
	}
	gradient, sums := memory(w.problems*w.network.Length), memory(w.problems*CellSums)
	clear(gradient.values())
	w.twice(t, CollectGradient, w.problems, []vector{gradient, sums}, gradient, sums, perSlot, 0, w.network.Length, count, slots+1, length)
	return []vector{byTheta, byZ, byU, bySupport, gradient, sums}
}

// check compares with forward-mode differentiation.
func (w *backwards) check(t *testing.T) {
	t.Helper()
	want := make([][]float64, len(names))
	for _, s := range w.steps {
		d := s.Differentiate()
		add := func(i int, v ...float64) { want[i] = append(want[i], v...) }
		add(0, d.Theta...)
		add(1, d.Z...)
		switch s.Plan.Kind {
		case glad.ADMMu:
			add(2, d.U...)
		case glad.GLADPM:
			add(2, d.LogSigma...)
			add(3, d.Support...)
		}
		add(4, d.Weights...)
		add(5, d.Lambda, d.Mean, d.Gain)
	}
	for i, got := range w.run(t) {
		each := len(want[i]) / w.problems
		if i == 5 {
			each = 1 // they differ in size
		}
		for from := 0; from < len(want[i]); from += max(each, 1) { // each problem to its own size
			agree(t, names[i], got.values()[from:from+each], want[i][from:from+each], adjointTolerance)
		}
	}
}

func planOf(t *testing.T, m *glad.Model) *glad.Plan {
	t.Helper()
	p, err := modeltest.Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The way back through the networks of every model that is built in.
func TestAdjointsOfBuiltinModels(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		p := planOf(t, m)
		shape := fmt.Sprint(p.Kind, p.Entries[0].Network.Inputs, len(p.Entries), name == "constant-untrained")
		if seen[shape] {
			continue // the same network with other weights
		}
		seen[shape] = true
		t.Run(name, func(t *testing.T) {
			sizes(t, func(t *testing.T, c *cases) {
				if c.d == 100 && c.problems > 1 {
					return
				}
				newBackwards(t, c, p, p.Iterations).check(t)
			})
		})
	}
}

// Any features, layers, activations and scales.
func TestAdjointsOfRandomModels(t *testing.T) {
	dev := emulated(t)
	models := 20
	if os.Getenv("GLADFLOW_LONG") != "" {
		models = 200
	}
	for _, kind := range glad.Kinds() {
		for i := range models {
			r := rand.New(rand.NewPCG(uint64(i), 8))
			p := planOf(t, modeltest.Random(r, kind))
			c := &cases{device: dev, d: []int{1, 2, 31, 33, 100}[i%5], problems: 1 + 2*(i/5%2), r: r}
			t.Run(fmt.Sprintf("%s,%d", kind, i), func(t *testing.T) {
				w := newBackwards(t, c, p, 1+r.IntN(p.Iterations))
				if c.d == 100 && (w.network.Length > 60 || c.problems > 1) {
					return // a small one does
				}
				w.check(t)
			})
		}
	}
}

// Tiles go round the slots where there are more of them.
func TestMoreTilesThanSlots(t *testing.T) {
	dev := emulated(t)
	const d = 23*tile + 1
	if Tiles(d) <= mostSlots {
		t.Fatal("there are fewer tiles")
	}
	r := rand.New(rand.NewPCG(2, 8))
	for _, kind := range []glad.Kind{glad.GLAD, glad.GLADPM} {
		m := modeltest.Random(r, kind)
		n := glad.Network{Inputs: []glad.Feature{glad.Lambda}, Layers: []glad.Layer{{Weights: [][]float64{{0.3}}, Bias: []float64{-1}, Activation: glad.Sigmoid}}}
		if m.Rho = n; kind == glad.GLADPM {
			l := &n.Layers[0]
			l.Weights, l.Bias = [][]float64{{0.3}, {0.2}, {0.1}}, []float64{-1, 0.2, 0.3}
			m.Rho, m.Cells = glad.Network{}, []glad.PosteriorMean{{Network: n}}
		}
		newBackwards(t, &cases{device: dev, d: d, problems: 1, r: r}, planOf(t, m), 1).check(t)
	}
}

// A NaN that goes in comes out, of its problem and no other.
func TestAdjointsWithNaN(t *testing.T) {
	dev := emulated(t)
	const d, problems, i, j = 35, 3, 3, 34
	features := map[glad.Kind][]glad.Feature{
		glad.GLAD: {glad.Theta, glad.S, glad.Z, glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal, glad.Lambda, glad.Context},
		glad.GLADPM: {
			glad.AbsU, glad.LogV, glad.ScaledU, glad.PriorZ, glad.UZ, glad.Diagonal, glad.NodeContext,
			glad.NodeSupport, glad.MeanDiagonal, glad.ZScore, glad.Lambda, glad.Context,
			glad.NodeContrast, glad.SupportContrast, glad.SampleRatio, glad.Strength, glad.Kurtosis, glad.RowSpread, glad.LargestContext,
		},
	}
	features[glad.ADMMu] = features[glad.GLAD]
	for _, kind := range glad.Kinds() {
		r := rand.New(rand.NewPCG(3, 8))
		m := modeltest.Random(r, kind)
		n := glad.Network{Inputs: features[kind]}
		outputs := 1
		if kind == glad.GLADPM {
			outputs = 3
		}
		for below, units := len(n.Inputs), 4; len(n.Layers) < 2; below, units = units, outputs {
			l := glad.Layer{Activation: glad.Tanh}
			for range units {
				w := make([]float64, below)
				for k := range w {
					w[k] = 0.3 * r.NormFloat64()
				}
				l.Weights, l.Bias = append(l.Weights, w), append(l.Bias, 0.1)
			}
			n.Layers = append(n.Layers, l)
		}
		if m.Rho = n; kind == glad.GLADPM {
			m.Rho, m.Cells = glad.Network{}, []glad.PosteriorMean{{Network: n}}
		}
		w := newBackwards(t, &cases{device: dev, d: d, problems: problems, r: r}, planOf(t, m), 1)
		var clean [][]float64
		for _, v := range w.run(t) {
			clean = append(clean, slices.Clone(v.values()))
		}
		for _, at := range []int{i*d + j, i*d + i} {
			type input struct {
				v    vector
				at   int
				name string
			}
			inputs := []input{
				{w.theta, at, "Θ"}, {w.z, at, "Z"}, {w.toZ, at, "the Z after the step"}, {w.byZ, at, "the derivative by Z"},
				{w.byNorm2, 0, "that by ‖Z − Θ‖²F"}, {w.lambda, 0, "λ"}, {w.fixed, 0, "the context"},
			}
			switch kind {
			case glad.GLAD:
				inputs = append(inputs, input{w.s, at, "S"})
			case glad.ADMMu:
				// U is only compared: its NaN is in the Z after the step too.
				inputs = append(inputs, input{w.s, at, "S"}, input{w.byU, at, "that by U"})
			case glad.GLADPM:
				inputs = append(inputs, input{w.mean, 0, "the mean"}, input{w.fixed, 1, "√M"})
				for k, name := range strings.Split("n(i),log Sii,σ,log σ,√σ,q", ",") {
					inputs = append(inputs, input{w.rows, k*d + i, name})
				}
			}
			for _, in := range inputs {
				place := &in.v.values()[in.at]
				was := *place
				*place = math.NaN()
				w.confined(t, fmt.Sprintf("%s, NaN in %s, entry %d", kind, in.name, at), w.run(t), clean)
				*place = was
			}
		}
	}
}
