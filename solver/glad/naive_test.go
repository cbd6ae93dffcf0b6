package glad

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// naive runs m on s entry by entry as the comment of the package writes it, without scaling,
// and returns Θ_K, Z_K and the last λ.
func naive(m *Model, s *mat.SymDense, samples float64) (theta, z *mat.Dense, lambda float64) {
	d, _ := s.Dims()
	start := mat.NewDense(d, d, nil)
	start.Copy(s)
	for i := range d {
		start.Set(i, i, start.At(i, i)+m.Theta0Offset)
	}
	theta, u := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	if err := theta.Inverse(start); err != nil {
		panic(err)
	}
	z = mat.DenseCopyOf(theta)
	context := NaiveContext(s)
	lambda = m.Lambda0
	for k := range m.Iterations {
		var norm2 float64
		for i := range d {
			for j := range d {
				norm2 += math.Pow(z.At(i, j)-theta.At(i, j), 2)
			}
		}
		step := math.Log(1e-6 + norm2/float64(d))
		if k == 0 {
			step = 0
		}
		f := naiveTable(s, samples)
		f[Norm2], f[LogNorm2PerD], f[LogStep], f[Lambda], f[Context] = norm2, math.Log(1e-6+norm2/float64(d)), step, lambda, context
		lambda = naiveNetwork(m.Lambda, f)[0]
		theta, z, u = NaiveCell(m, k+1, s, z, u, lambda, context, samples)
	}
	return theta, z, lambda
}

// NaiveContext is the feature of that name.
func NaiveContext(s *mat.SymDense) float64 {
	d, _ := s.Dims()
	var sum float64
	for i := range d {
		for j := range d {
			sum += s.At(i, j) * s.At(i, j) / s.At(i, i) / s.At(j, j) / float64(d)
		}
	}
	return math.Log(sum)
}

// naiveTable are the features of a table, as Table writes them.
func naiveTable(s *mat.SymDense, samples float64) map[Feature]float64 {
	d, _ := s.Dims()
	n := make([]float64, d)
	var second, fourth, pairs, mean, spread float64
	for i := range d {
		var sum float64
		for j := range d {
			r := s.At(i, j) / math.Sqrt(s.At(i, i)*s.At(j, j))
			sum += r * r
			if i < j {
				second, fourth, pairs = second+math.Pow(r, 2), fourth+math.Pow(r, 4), pairs+1
			}
		}
		n[i] = 3 * math.Log(sum)
		mean += n[i] / float64(d)
	}
	f := map[Feature]float64{
		SampleRatio: math.Log(math.Min(math.Max(samples/float64(d), 0.01), 1000)) / 2,
		Strength:    0, Kurtosis: 0, LargestContext: math.Inf(-1),
	}
	if pairs > 0 {
		second, fourth = second/pairs, fourth/pairs
		f[Strength], f[Kurtosis] = math.Log(1+samples*second), math.Log(fourth/(3*second*second))/2
	}
	for i := range d {
		spread += math.Pow(n[i]-mean, 2) / float64(d)
		f[LargestContext] = math.Max(f[LargestContext], n[i]-mean)
	}
	f[RowSpread] = math.Sqrt(spread)
	return f
}

// NaiveCell is cell k, from 1, of m: from Z and U, which only kind ADMMu uses, to
// the next Θ, Z and U.
func NaiveCell(m *Model, k int, s *mat.SymDense, z, u *mat.Dense, lambda, context, samples float64) (theta, toZ, toU *mat.Dense) {
	d, _ := s.Dims()
	y := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			y.SetSym(i, j, s.At(i, j)/lambda-z.At(i, j)+u.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(y, true) {
		panic("no eigendecomposition")
	}
	var q, t mat.Dense
	eigen.VectorsTo(&q)
	root := mat.NewDense(d, d, nil)
	for i, v := range eigen.Values(nil) {
		root.Set(i, i, math.Sqrt(v*v+4/lambda))
	}
	t.Product(&q, root, q.T())
	t.Sub(&t, y)
	theta = mat.NewDense(d, d, nil)
	theta.Scale(0.5, &t)
	if m.Kind == GLADPM {
		cell := m.Cells[0]
		if len(m.Cells) > 1 {
			cell = m.Cells[k-1]
		}
		return theta, naivePosterior(cell, s, theta, z, lambda, context, samples), u
	}
	toZ, toU = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			t, c := theta.At(i, j), s.At(i, j)
			on := 0.0
			if i == j {
				on = 1
			}
			rho := naiveNetwork(m.Rho, map[Feature]float64{
				Theta: t, S: c, Z: z.At(i, j), Lambda: lambda, AbsTheta: math.Abs(t), AbsS: math.Abs(c),
				AbsZ: math.Abs(z.At(i, j)), NegThetaS: -t * c, Diagonal: on, Context: context,
			})[0]
			a := t + u.At(i, j)
			v := 0.0
			if math.Abs(a) > rho {
				v = a - math.Copysign(rho, a)
			}
			toZ.Set(i, j, v)
			if m.Kind == ADMMu {
				toU.Set(i, j, u.At(i, j)+t-v)
			}
		}
	}
	return theta, toZ, toU
}

// naivePosterior is the posterior-mean cell, as PosteriorMean writes it.
func naivePosterior(c PosteriorMean, s *mat.SymDense, theta, z *mat.Dense, lambda, context, samples float64) *mat.Dense {
	d, _ := s.Dims()
	n, q, sigma := make([]float64, d), make([]float64, d), make([]float64, d)
	var m, average float64
	for i := range d {
		var a, b float64
		for j := range d {
			a += s.At(i, j) * s.At(i, j) / s.At(i, i) / s.At(j, j)
			if j != i {
				b += z.At(i, j) * z.At(i, j)
			}
		}
		n[i], q[i] = math.Log(a), math.Log(0.1+b)
		average += n[i] / float64(d)
		m += theta.At(i, i) / float64(d)
		sigma[i] = math.Max(s.At(i, i)+lambda*(theta.At(i, i)-z.At(i, i)), 1e-3*s.At(i, i))
	}
	for i := range d {
		n[i] = 3 * (n[i] - average)
	}
	next, table := mat.NewDense(d, d, nil), naiveTable(s, samples)
	for i := range d {
		for j := range d {
			v := sigma[i] * sigma[j]
			u := theta.At(i, j) + math.Log1p(math.Exp(c.Step))*lambda*(theta.At(i, j)-z.At(i, j))/v
			f := maps.Clone(table)
			maps.Copy(f, map[Feature]float64{
				AbsU: math.Abs(u), LogV: math.Log(v) + 2.6, ScaledU: 4 * math.Abs(u) * math.Sqrt(v),
				PriorZ: math.Abs(z.At(i, j)), UZ: u * z.At(i, j), Diagonal: 0,
				NodeContext: (n[i] + n[j]) / 2, NodeSupport: (q[i] + q[j]) / 2, MeanDiagonal: m - 4,
				ZScore: math.Log1p(math.Abs(u) * math.Sqrt(samples*v)), Lambda: lambda, Context: context,
				NodeContrast: math.Abs(n[i]-n[j]) / 2, SupportContrast: math.Abs(q[i]-q[j]) / 2,
			})
			if i == j {
				f[AbsU], f[ScaledU], f[PriorZ] = theta.At(i, i)-m, math.Log(s.At(i, i))+1, z.At(i, i)-m
				f[UZ], f[Diagonal], f[ZScore] = u-m, 1, 0
			}
			o := naiveNetwork(c.Network, f)
			if i == j {
				next.Set(i, i, m*(1+0.3*o[1])+(u-m)/(1+math.Exp(-o[2]-1.5)))
			} else {
				next.Set(i, j, u/(1+math.Exp(-o[0])))
			}
		}
	}
	return next
}

func naiveNetwork(n Network, features map[Feature]float64) []float64 {
	var x []float64
	for _, f := range n.Inputs {
		v, ok := features[f]
		if !ok {
			panic(f)
		}
		x = append(x, v)
	}
	for _, l := range n.Layers {
		var y []float64
		for i, row := range l.Weights {
			v := l.Bias[i]
			for j, w := range row {
				v += w * x[j]
			}
			switch l.Activation {
			case Tanh:
				v = math.Tanh(v)
			case Sigmoid:
				v = 1 / (1 + math.Exp(-v))
			case Exp:
				v = math.Exp(v)
			}
			if l.Scale != 0 {
				v *= l.Scale
			}
			y = append(y, v)
		}
		x = y
	}
	return x
}

// drawFeatures draws a non-empty subset in random order.
func drawFeatures(t *rapid.T, all []Feature, label string) []Feature {
	p := rapid.Permutation(all).Draw(t, label)
	return p[:rapid.IntRange(1, len(p)).Draw(t, label+" count")]
}

// drawNetwork draws a network of the given number of layers, with weights
// within ±size and an output activation of last. What is hidden is bounded.
func drawNetwork(t *rapid.T, inputs []Feature, layers, outputs int, size float64, last []Activation) Network {
	n := Network{Inputs: inputs}
	weight := rapid.Float64Range(-size, size)
	below := len(inputs)
	for i := range layers {
		units, from := rapid.IntRange(1, 5).Draw(t, "units"), []Activation{Tanh, Sigmoid}
		if i > 0 {
			from = append(from, Identity)
		}
		if i == layers-1 {
			units, from = outputs, last
		}
		l := Layer{Activation: rapid.SampledFrom(from).Draw(t, "activation")}
		if rapid.Bool().Draw(t, "scaled") {
			l.Scale = rapid.Float64Range(0.1, 4).Draw(t, "scale")
		}
		for range units {
			l.Weights = append(l.Weights, rapid.SliceOfN(weight, below, below).Draw(t, "row"))
			l.Bias = append(l.Bias, weight.Draw(t, "bias"))
		}
		n.Layers = append(n.Layers, l)
		below = units
	}
	return n
}

// drawModel draws a model of any kind whose weights lie within ±size; rho are
// the features that its ρnn may have.
func drawModel(t *rapid.T, rho []Feature, size float64, last ...Activation) *Model {
	m := &Model{
		Name: "drawn", Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"),
		Iterations:   rapid.IntRange(1, 8).Draw(t, "iterations"),
		Theta0Offset: rapid.Float64Range(0.1, 2).Draw(t, "t"),
		Lambda0:      rapid.Float64Range(0.1, 2).Draw(t, "lambda0"),
		Lambda:       drawNetwork(t, drawFeatures(t, lambdaFeatures(), "lambda"), rapid.IntRange(2, 3).Draw(t, "lambda layers"), 1, size, last),
		Scaling:      Scaling{Mode: ScalingNone},
	}
	if m.Kind != GLADPM {
		m.Rho = drawNetwork(t, drawFeatures(t, rho, "rho"), rapid.IntRange(1, 4).Draw(t, "rho layers"), 1, size, last)
		return m
	}
	cells := 1
	if rapid.Bool().Draw(t, "untied") {
		cells = m.Iterations
	}
	for range cells {
		m.Cells = append(m.Cells, PosteriorMean{
			Step:    rapid.Float64Range(-3, 1).Draw(t, "e"),
			Network: drawNetwork(t, drawFeatures(t, posteriorFeatures(), "cell"), rapid.IntRange(1, 3).Draw(t, "cell layers"), posteriorOutputs, size, []Activation{Identity}),
		})
	}
	return m
}

func drawCovariance(t *rapid.T, largest int) *dense.Sym {
	d := rapid.IntRange(1, largest).Draw(t, "d")
	m := rapid.IntRange(2, 2*largest).Draw(t, "M")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	return randomCovariance(r, d, m)
}

// rounded returns a with every entry off by a relative 1e-14, so that what
// rounding does to a result is seen.
func rounded(a *dense.Sym) *dense.Sym {
	b := a.Clone()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range a.Len() {
		for j := i; j < a.Len(); j++ {
			b.Set(i, j, a.At(i, j)*(1+1e-14*r.NormFloat64()))
		}
	}
	return b
}

// pairOf returns copies of Θ and Z.
func pairOf(t interface{ Fatal(...any) }, s Step) (theta, z *dense.Sym) {
	theta, z, err := s.Pair()
	if err != nil {
		t.Fatal(err)
	}
	return theta.Clone(), z.Clone()
}

// loaded is what the CPU runs a model with on a covariance.
func loaded(t interface{ Fatal(...any) }, m *Model, a *dense.Sym, engine dense.Engine) *iterates {
	s, err := CPU{Engine: engine}.Open(m.plan(true))
	if err != nil {
		t.Fatal(err)
	}
	session := s.(*cpuSession)
	c := session.newIterates(a.Len(), dense.Cores())
	c.load(session, a, 0)
	return c
}

// solve fails t on an error.
func solve(t interface{ Fatal(...any) }, s Solver, a *dense.Sym) *solver.Estimate {
	if s.Backend == nil {
		s.Backend = CPU{Engine: dense.Gonum{}}
	}
	est, err := s.Solve(context.Background(), solver.Problem{S: a})
	if err != nil {
		t.Fatal(err)
	}
	return est
}

func TestAgainstTheEquationsEntryByEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Λnn has a bounded hidden layer, so that λ stays where the literal
		// formula of Θ does not cancel more than the tolerance allows.
		m := drawModel(t, rhoFeatures(), 0.5, Sigmoid, Exp)
		a := drawCovariance(t, 40) // above two strips of the sweep
		samples := rapid.IntRange(1, 2000).Draw(t, "samples")
		s := mat.NewSymDense(a.Len(), a.Clone().Raw())
		theta, z, lambda := naive(m, s, float64(samples))
		var last struct {
			lambda   float64
			theta, z *dense.Sym
		}
		_, err := Solver{Model: m, Backend: CPU{Engine: dense.Gonum{}}}.Trajectory(context.Background(), solver.Problem{S: a, Samples: samples}, func(s Step) {
			last.lambda = s.Lambda
			last.theta, last.z = pairOf(t, s)
		})
		if err != nil {
			t.Fatal(err)
		}
		// Eight cells with random weights may enlarge the rounding of one a
		// hundred million times. About what that does is seen where every entry
		// of S is rounded a little more; entries of Θ − Z, which cancel, may be
		// off by some times that.
		more := mat.NewSymDense(a.Len(), rounded(a).Raw())
		thetaRounded, zRounded, lambdaRounded := naive(m, more, float64(samples))
		var difference mat.Dense
		difference.Sub(theta, thetaRounded)
		rounding := mat.Norm(&difference, 2)
		difference.Sub(z, zRounded)
		rounding = max(rounding, mat.Norm(&difference, 2))
		// Relative to the largest entry: posterior-mean cells with random
		// weights may make Z a thousand times Θ.
		tolerance := 1e-9*(1+mat.Max(theta)+max(mat.Max(z), -mat.Min(z))) + 10*rounding
		if got := math.Abs(last.lambda - lambda); got > 1e-9*lambda+10*math.Abs(lambda-lambdaRounded) {
			t.Errorf("λ is %v, want %v", last.lambda, lambda)
		}
		for i := range a.Len() {
			for j := range a.Len() {
				if got, want := last.theta.At(i, j), theta.At(i, j); math.Abs(got-want) > tolerance {
					t.Fatalf("Θ(%d,%d) is %v, want %v", i, j, got, want)
				}
				if got, want := last.z.At(i, j), z.At(i, j); math.Abs(got-want) > tolerance {
					t.Fatalf("Z(%d,%d) is %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

// The sweep works in tiles of 128 columns and strips of 16 rows on all cores;
// sizes around those must make no difference.
func TestAllTilesAreDone(t *testing.T) {
	for _, d := range []int{1, 2, 16, 17, 128, 129, 145} {
		for _, kind := range []Kind{GLAD, ADMMu} {
			t.Run(fmt.Sprintf("%s/d=%d", kind, d), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, uint64(d)))
				a := randomCovariance(r, d, d+2)
				m := paperModel(r, 2)
				m.Kind = kind
				m.Rho.Inputs = []Feature{AbsTheta, NegThetaS, Diagonal}
				theta, z, _ := naive(m, mat.NewSymDense(d, a.Clone().Raw()), 50)
				est := solve(t, Solver{Model: m, Backend: CPU{}}, a)
				// Two cells from a well-conditioned start: rounding only.
				if got := distance(est.Precision, dense.NewSym(d, theta.RawMatrix().Data)); got > 1e-11 {
					t.Errorf("Θ is off by %g", got)
				}
				if got := distance(est.Support, dense.NewSym(d, z.RawMatrix().Data)); got > 1e-11 {
					t.Errorf("Z is off by %g", got)
				}
			})
		}
	}
}

// NaiveTable is the Table of naiveTable.
func NaiveTable(s *mat.SymDense, samples float64) Table {
	f := naiveTable(s, samples)
	return Table{f[SampleRatio], f[Strength], f[Kurtosis], f[RowSpread], f[LargestContext]}
}
