package glad_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// head is an edge head with random weights over all features.
func head(seed uint64, units int) glad.Network {
	rng := rand.New(rand.NewPCG(seed, 5))
	n := glad.Network{Inputs: glad.EdgeFeatures()}
	for _, size := range [][2]int{{units, len(n.Inputs)}, {1, units}} {
		l := glad.Layer{Activation: glad.Tanh}
		for range size[0] {
			row := make([]float64, size[1])
			for k := range row {
				row[k] = rng.NormFloat64() / math.Sqrt(float64(size[1]))
			}
			l.Weights, l.Bias = append(l.Weights, row), append(l.Bias, rng.NormFloat64())
		}
		n.Layers = append(n.Layers, l)
	}
	n.Layers[1].Activation = glad.Identity
	return n
}

// likely is the probability that a head says of a table of m samples, 0 if unknown, and a
// precision matrix that is 0.3I away from its inverse.
func likely(t testing.TB, n glad.Network, s *dense.Sym, m, threads int) *dense.Sym {
	t.Helper()
	model := &glad.Model{Edge: n}
	theta := regularised(t, s)
	p, familiar, err := model.EdgeProbability(t.Context(), dense.WithThreads(dense.Gonum{}, threads), solver.Problem{S: s, Samples: m}, theta, sparsened(theta))
	if err != nil || !familiar {
		t.Fatal(familiar, err)
	}
	return p
}

// regularised is (S + 0.3·diag S)⁻¹.
func regularised(t testing.TB, s *dense.Sym) *dense.Sym {
	t.Helper()
	a := s.Clone()
	for i := range a.Len() {
		a.Set(i, i, 1.3*a.At(i, i))
	}
	theta := dense.NewSym(a.Len(), nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, a.Len()).Inverse(theta, a); !ok {
		t.Fatal("not definite")
	}
	return theta
}

// sparsened is theta with smaller entries, zeros where it has small ones.
func sparsened(theta *dense.Sym) *dense.Sym {
	z := theta.Clone()
	for i := range z.Len() {
		for j := range z.Len() {
			if j != i {
				v := theta.At(i, j)
				z.Row(i)[j] = 0
				if math.Abs(v) > 0.1*math.Sqrt(theta.At(i, i)*theta.At(j, j)) {
					z.Row(i)[j] = 0.7 * v
				}
			}
		}
	}
	return z
}

// table is the covariance of m samples of d variables that depend on each other.
func edgeTable(rng *rand.Rand, d, m int) *dense.Sym {
	s := dense.NewSym(d, nil)
	x := make([]float64, d)
	for range m {
		for j := range x {
			x[j] = rng.NormFloat64()
			if j > 0 && j%3 != 0 {
				x[j] += x[j-1]
			}
		}
		for i := range d {
			for j := range d {
				s.Row(i)[j] += x[i] * x[j] / float64(m)
			}
		}
	}
	return s
}

// The probabilities are symmetric, in [0, 1], equivariant to permutations, and see neither
// the scales nor the signs of the variables.
func TestEdgeProbabilityOfTransformedVariables(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		d, m := rapid.IntRange(1, 24).Draw(r, "d"), rapid.IntRange(2, 40).Draw(r, "m")
		s, n := edgeTable(rng, d, m), head(seed, 5)
		p := likely(t, n, s, m, 1)
		if p.Len() != d || p.Asymmetry() != 0 || !p.Finite() {
			t.Fatalf("%d×%d, asymmetry %v", p.Len(), p.Len(), p.Asymmetry())
		}
		perm := rng.Perm(d)
		moved := dense.NewSym(d, nil)
		scale := make([]float64, d)
		for i := range scale {
			scale[i] = math.Exp(3*rng.Float64()) * float64(1-2*rng.IntN(2))
		}
		for i := range d {
			for j := range d {
				moved.Row(i)[j] = s.At(perm[i], perm[j]) * scale[i] * scale[j]
			}
		}
		q := likely(t, n, moved, m, 1)
		for i := range d {
			for j := range d {
				v := p.At(perm[i], perm[j])
				if math.Abs(q.At(i, j)-v) > 1e-9 || v < 0 || v > 1 || i == j && v != 0 {
					t.Fatalf("pair (%d,%d) has %v, and %v where variables are moved and rescaled", i, j, v, q.At(i, j))
				}
			}
		}
	})
}

// Features are those of their comments, and the head is the network of them.
func TestEdgeFeatures(t *testing.T) {
	const d, m = 13, 9 // S is singular
	s := edgeTable(rand.New(rand.NewPCG(3, 1)), d, m)
	theta := regularised(t, s)
	correlate := func(a mat.Symmetric) *mat.Dense {
		c := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range d {
				c.Set(i, j, math.Abs(a.At(i, j))/math.Sqrt(a.At(i, i)*a.At(j, j)))
			}
		}
		return c
	}
	support := sparsened(theta)
	r, p, z := correlate(s), correlate(theta), correlate(support)
	squares := 0.0
	for _, v := range r.RawMatrix().Data {
		squares += v * v
	}
	weight := ((1-2.0/d)*squares + d*d) / ((m + 1 - 2.0/d) * (squares - d))
	shrunk := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			v := (1 - weight) * s.At(i, j) / math.Sqrt(s.At(i, i)*s.At(j, j))
			if i == j {
				v = 1
			}
			shrunk.Set(i, j, v)
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(shrunk); err != nil {
		t.Fatal(err)
	}
	l := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			l.Set(i, j, math.Abs(inverse.At(i, j))/math.Sqrt(inverse.At(i, i)*inverse.At(j, j)))
		}
	}
	over := func(a *mat.Dense, i int, f func(v float64)) {
		for k := range d {
			if k != i {
				f(a.At(i, k))
			}
		}
	}
	sum := func(a *mat.Dense, i int) (sum float64) { over(a, i, func(v float64) { sum += v * v }); return sum }
	mean := func(i int) (sum float64) { over(l, i, func(v float64) { sum += v / (d - 1) }); return sum }
	most := func(i int) (most float64) { over(l, i, func(v float64) { most = max(most, v) }); return most }
	node := func(i int) float64 { return math.Log1p(sum(r, i)) }
	partialNode := func(i int) float64 { return math.Log(0.01 + sum(p, i)) }
	sparseNode := func(i int) float64 { return math.Log(0.01 + sum(z, i)) }
	shrunkNode := func(i int) float64 { return math.Log(0.01 + sum(l, i)) }
	information := func(i int) float64 { return math.Log(inverse.At(i, i)) }
	average := func(f func(i int) float64) (v float64) {
		for i := range d {
			v += f(i) / d
		}
		return v
	}
	kurtosis := func(a *mat.Dense) (square, ratio float64) {
		var fourth float64
		for i := range d {
			over(a, i, func(v float64) { square += v * v / (d * (d - 1)); fourth += v * v * v * v / (d * (d - 1)) })
		}
		return m * square, fourth / (square * square) / 3
	}
	largest := slices.Max(func() (v []float64) {
		for i := range d {
			v = append(v, most(i))
		}
		return v
	}())
	spreadOf := func(f func(i int) float64) (spread, crest float64) {
		for i := range d {
			crest = max(crest, f(i)-average(f))
		}
		return math.Sqrt(average(func(i int) float64 { v := f(i) - average(f); return v * v })), crest
	}
	spread, crest := spreadOf(node)
	sparseSpread, sparseCrest := spreadOf(sparseNode)
	zs, zk := kurtosis(z)
	rs, rk := kurtosis(r)
	ls, lk := kurtosis(l)
	const i, j = 2, 7
	want := []float64{
		4 * r.At(i, j), math.Log(1 + 3*r.At(i, j)), 4 * p.At(i, j), math.Log(1 + 3*p.At(i, j)), 4 * l.At(i, j), math.Log(1 + 3*l.At(i, j)),
		(node(i) + node(j)) / 2, max(node(i), node(j)), (partialNode(i) + partialNode(j)) / 2, max(partialNode(i), partialNode(j)),
		(shrunkNode(i) + shrunkNode(j)) / 2, max(shrunkNode(i), shrunkNode(j)),
		(information(i) + information(j)) / 2, max(information(i), information(j)),
		l.At(i, j) / min(most(i), most(j)), l.At(i, j) / max(most(i), most(j)), math.Log((l.At(i, j) + 1e-9) / math.Sqrt((mean(i)+1e-9)*(mean(j)+1e-9))),
		4 * z.At(i, j), math.Log(1 + 3*z.At(i, j)), math.Log((1e-3 + z.At(i, j)) / (1e-3 + p.At(i, j))),
		(sparseNode(i) + sparseNode(j)) / 2, max(sparseNode(i), sparseNode(j)),
		math.Log(m / float64(d)), math.Log(1e-3 + rs), math.Log(1e-3 + rk),
		math.Log(1e-3 + zs), math.Log(1e-3 + zk), sparseSpread, sparseCrest, math.Log(1e-3 + ls), math.Log(1e-3 + lk),
		4 * spread, crest, math.Log(1e-3 + m*largest*largest/(2*math.Log(1+d*(d-1)/2))), average(information),
	}
	x, err := glad.EdgeInputs(t.Context(), dense.Gonum{}, glad.EdgeFeatures(), solver.Problem{S: s, Samples: m}, theta, support, [][2]int{{0, 1}, {i, j}})
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range glad.EdgeFeatures() {
		if math.Abs(x[k][1]-want[k]) > 1e-8*(1+math.Abs(want[k])) {
			t.Errorf("%s is %v, want %v", name, x[k][1], want[k])
		}
	}
	n := head(4, 3)
	logit := n.Layers[1].Bias[0]
	for u, row := range n.Layers[0].Weights {
		h := n.Layers[0].Bias[u]
		for k, w := range row {
			h += w * want[k]
		}
		logit += n.Layers[1].Weights[0][u] * math.Tanh(h)
	}
	if got, said := likely(t, n, s, m, 1).At(i, j), 1/(1+math.Exp(-logit)); math.Abs(got-said) > 1e-9 {
		t.Errorf("probability %v, want %v", got, said)
	}
	if _, err := glad.EdgeInputs(t.Context(), dense.Gonum{}, []glad.Feature{glad.Theta}, solver.Problem{S: s}, theta, support, nil); err == nil {
		t.Error("a feature of other networks is taken")
	}
}

// Every feature of a block of pairs writes what is its own: a wide table has the probabilities
// that its pairs have one by one.
func TestEdgeProbabilityOfWideTable(t *testing.T) {
	const d, m = 600, 30
	s := edgeTable(rand.New(rand.NewPCG(4, 1)), d, m)
	theta := regularised(t, s)
	// The last features are those that write next to what is not theirs.
	for _, f := range glad.EdgeFeatures() {
		if slices.Contains(glad.EdgeTableFeatures(), f) {
			continue
		}
		n := glad.Network{Inputs: []glad.Feature{f}, Layers: []glad.Layer{
			{Weights: [][]float64{{0.5}}, Bias: []float64{0}, Activation: glad.Tanh},
			{Weights: [][]float64{{1}}, Bias: []float64{0}, Activation: glad.Identity},
		}}
		p, _, err := (&glad.Model{Edge: n}).EdgeProbability(t.Context(), dense.Default(), solver.Problem{S: s, Samples: m}, theta, theta)
		if err != nil {
			t.Fatal(err)
		}
		pairs := [][2]int{{0, 1}, {0, 255}, {0, 256}, {0, 257}, {0, 599}, {300, 590}, {598, 599}}
		x, err := glad.EdgeInputs(t.Context(), dense.Default(), n.Inputs, solver.Problem{S: s, Samples: m}, theta, theta, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for k, pair := range pairs {
			want := 1 / (1 + math.Exp(-math.Tanh(0.5*x[0][k])))
			if got := p.At(pair[0], pair[1]); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of %v: %v, want %v", f, pair, got, want)
			}
		}
	}
}

// Probabilities are finite whatever the table.
func TestEdgeProbabilityOfExtremes(t *testing.T) {
	ones := func(d int) *dense.Sym {
		s := dense.NewSym(d, nil)
		for k := range s.Raw() {
			s.Raw()[k] = 1
		}
		return s
	}
	tiny := ones(3)
	tiny.Scale(1e-200)
	for name, s := range map[string]*dense.Sym{
		"one variable": dense.Identity(1), "independent": dense.Identity(4), "the same variables": ones(5), "two": ones(2),
		"small numbers": tiny, "one sample": edgeTable(rand.New(rand.NewPCG(1, 1)), 7, 1),
	} {
		for _, m := range []int{0, 1, 2, 1e9} {
			if p := likely(t, head(2, 4), s, m, 1); !p.Finite() || p.Len() != s.Len() {
				t.Errorf("%s, m = %d: %v", name, m, p.Raw())
			}
		}
	}
}

// The number of threads does not show in the bits, and what is cancelled ends.
func TestEdgeProbabilityOnThreads(t *testing.T) {
	const d, m = 300, 40
	s := edgeTable(rand.New(rand.NewPCG(8, 1)), d, m)
	one, two := likely(t, head(1, 4), s, m, 1), likely(t, head(1, 4), s, m, 2)
	if !slices.Equal(one.Raw(), two.Raw()) {
		t.Error("two threads give other bits than one")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	model := &glad.Model{Edge: head(1, 4)}
	if p, _, err := model.EdgeProbability(ctx, dense.Gonum{}, solver.Problem{S: s}, one, one); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("cancelled: %v, %v", p, err)
	}
}

// The derivatives of the loss are the limits of its differences.
func TestEdgeGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := head(3, 4)
	const pairs = 30
	x := make([][]float64, len(n.Inputs))
	for k := range x {
		for range pairs {
			x[k] = append(x[k], rng.NormFloat64())
		}
	}
	edge, weight := make([]bool, pairs), make([]float64, pairs)
	for i := range edge {
		edge[i], weight[i] = rng.IntN(2) == 0, rng.Float64()
	}
	d := glad.NewEdgeDifferentiator(n, pairs)
	values := d.Values()
	gradient, logits := make([]float64, len(values)), make([]float64, pairs)
	loss := d.Loss(x, edge, weight, gradient, logits)
	var want float64
	for i, v := range logits {
		if edge[i] {
			v = -v
		}
		want += weight[i] * math.Log1p(math.Exp(v))
	}
	if math.Abs(loss-want) > 1e-12*want {
		t.Errorf("the loss is %v, want %v", loss, want)
	}
	const h = 1e-6
	for i, v := range values {
		values[i] = v + h
		above := d.Loss(x, edge, weight, nil, nil)
		values[i] = v - h
		below := d.Loss(x, edge, weight, nil, nil)
		values[i] = v
		if want := (above - below) / (2 * h); math.Abs(gradient[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("derivative %d is %v, want %v", i, gradient[i], want)
		}
	}
	values[0] = 17
	d.Store(&n)
	if n.Layers[0].Weights[0][0] != 17 {
		t.Error("values are not stored")
	}
}

// A model file keeps its head; a wrong one is refused by its key.
func TestEdgeHeadInFile(t *testing.T) {
	m, err := glad.Builtin("grid")
	if err != nil {
		t.Fatal(err)
	}
	if m.HasEdgeHead() {
		t.Fatal("the model has a head already")
	}
	m.Edge, m.EdgeRange = head(1, 3), map[glad.Feature]glad.EdgeRange{glad.EdgeLargest: {-1, 2.5}}
	m.Card.Edges = &glad.EdgeCard{Command: "gladflow train edges", Tables: 3, Families: []glad.EdgeFigures{{
		Family: "er", Seen: true, Tables: 1, Brier: 0.1, Counts: []int{1, 2}, Said: []float64{0.1, 0.7}, Held: []float64{0, 1},
	}}}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	back, err := glad.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.Write(&again); err != nil || again.String() != text {
		t.Errorf("the model is another one when read back: %v", err)
	}
	if n := back.EdgeParameters(); n != 3*len(glad.EdgeFeatures())+3+3+1 {
		t.Errorf("%d parameters", n)
	}
	for from, want := range map[string]string{
		`"correlation_score"`: "edge.inputs[1]", `"said": [0.1, 0.7]`: "card.edges.families[0]", `"brier": 0.1`: "card.edges.families[0].brier",
		`"largest": [-1, 2.5]`: "edge_range.largest", `"edge_range"`: "edge_ranges",
	} {
		to := map[string]string{`"correlation_score"`: `"theta"`, `"said": [0.1, 0.7]`: `"said": [0.1]`, `"brier": 0.1`: `"brier": "low"`,
			`"largest": [-1, 2.5]`: `"largest": [3, 2]`, `"edge_range"`: `"edge_ranges"`}[from]
		if _, err := glad.Read(strings.NewReader(strings.Replace(text, from, to, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s for %s: %v", to, from, err)
		}
	}
}

// Solve gives the probabilities of the model's head, and SolveAll the same.
func TestSolveWithEdgeHead(t *testing.T) {
	m, err := glad.Builtin("general")
	if err != nil {
		t.Fatal(err)
	}
	m.Edge, m.EdgeRange = head(6, 4), map[glad.Feature]glad.EdgeRange{glad.EdgeSampleRatio: {0, 1}}
	s := edgeTable(rand.New(rand.NewPCG(2, 1)), 12, 30)
	p := solver.Problem{S: s, Samples: 30}
	est, err := glad.Solver{Model: m}.Solve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := m.EdgeProbability(t.Context(), dense.Default(), p, est.Precision, est.Support)
	if err != nil || !slices.Equal(want.Raw(), est.Probability.Raw()) {
		t.Errorf("other probabilities, %v", err)
	}
	if v := est.Score(3, 4); v != want.At(3, 4) {
		t.Errorf("score %v", v)
	}
	// A table far outside of a range is not ranked by what the head says: log(30/12) is .92.
	for most, unfamiliar := range map[float64]bool{0.8: true, 0.84: false} {
		m.EdgeRange[glad.EdgeSampleRatio] = glad.EdgeRange{0, most}
		est, err := glad.Solver{Model: m}.Solve(t.Context(), p)
		if err != nil || est.Unfamiliar != unfamiliar || est.Probability == nil || unfamiliar && est.Score(3, 4) != math.Abs(est.PartialCorrelation(3, 4)) {
			t.Errorf("range to %v: %v, %v", most, est.Unfamiliar, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if est, err = (glad.Solver{Model: m}).Solve(ctx, p); err != nil || est.Status != solver.Interrupted || est.Probability != nil {
		t.Errorf("cancelled: %+v, %v", est, err)
	}
}
