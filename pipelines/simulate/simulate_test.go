package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/dense"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestScaleFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 80).Draw(t, "d")
		links := rapid.IntRange(-1, 5).Draw(t, "links")
		g := ScaleFree(seeded(rapid.Uint64().Draw(t, "seed")), d, links)
		want := 0
		for j := range d {
			want += max(0, min(j, links))
		}
		if g.Nodes != d || len(g.Edges) != want {
			t.Fatalf("%d variables and %d edges, want %d and %d", g.Nodes, len(g.Edges), d, want)
		}
		checkEdges(t, g)
		if links > 0 && d > 0 && !connected(g) {
			t.Error("the graph is not connected")
		}
	})
}

func checkEdges(t *rapid.T, g Graph) {
	for k, e := range g.Edges {
		if e[0] < 0 || e[0] >= e[1] || e[1] >= g.Nodes {
			t.Errorf("edge %v is not a pair i < j < %d", e, g.Nodes)
		}
		if k > 0 && slices.Compare(g.Edges[k-1][:], e[:]) >= 0 {
			t.Errorf("edge %v stands after %v", e, g.Edges[k-1])
		}
	}
}

func connected(g Graph) bool {
	root := make([]int, g.Nodes)
	for i := range root {
		root[i] = i
	}
	parts := g.Nodes
	for _, e := range g.Edges {
		a, b := root[e[0]], root[e[1]]
		if a == b {
			continue
		}
		parts--
		for i := range root {
			if root[i] == b {
				root[i] = a
			}
		}
	}
	return parts == 1
}

// A scale-free graph has hubs that a random graph with as many edges lacks.
func TestScaleFreeHasHubs(t *testing.T) {
	const d, links, graphs = 200, 2, 20
	var grown, random float64
	for seed := range uint64(graphs) {
		g := ScaleFree(seeded(seed), d, links)
		grown += float64(maxDegree(g)) / graphs
		p := float64(2*len(g.Edges)) / (d * (d - 1))
		random += float64(maxDegree(ErdosRenyi(seeded(seed), d, p))) / graphs
	}
	// A Poisson degree of mean 4 rarely exceeds 12 in 200 draws; preferential
	// attachment gives a largest degree of order √d·links.
	if grown < 2*random {
		t.Errorf("largest degree %v on average, %v in random graphs of the same size", grown, random)
	}
}

func maxDegree(g Graph) int {
	degree := make([]int, g.Nodes)
	for _, e := range g.Edges {
		degree[e[0]]++
		degree[e[1]]++
	}
	return slices.Max(degree)
}

func TestErdosRenyi(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 30).Draw(t, "d")
		g := ErdosRenyi(seeded(rapid.Uint64().Draw(t, "seed")), d, rapid.Float64Range(0, 1).Draw(t, "p"))
		if g.Nodes != d {
			t.Fatalf("%d variables, want %d", g.Nodes, d)
		}
		checkEdges(t, g)
	})
	const d, p = 300, 0.1
	pairs := float64(d * (d - 1) / 2)
	n := float64(len(ErdosRenyi(seeded(1), d, p).Edges))
	if sd := math.Sqrt(pairs * p * (1 - p)); math.Abs(n-pairs*p) > 5*sd {
		t.Errorf("%v edges, want %v ± %v", n, pairs*p, sd)
	}
	if n := len(ErdosRenyi(seeded(1), 7, 1).Edges); n != 21 {
		t.Errorf("p = 1 gives %d of 21 edges", n)
	}
}

func TestWeights(t *testing.T) {
	rng := seeded(5)
	g := ErdosRenyi(rng, 60, 0.3)
	w := g.Weights(rng, SignedUniform(0.3, 0.8))
	edges := make(map[[2]int]bool)
	for _, e := range g.Edges {
		edges[e] = true
	}
	negative := 0
	for i := range g.Nodes {
		for j := range g.Nodes {
			v := w.At(i, j)
			if v != w.At(j, i) {
				t.Fatalf("entries (%d,%d) and (%d,%d) differ", i, j, j, i)
			}
			if !edges[[2]int{min(i, j), max(i, j)}] {
				if v != 0 {
					t.Errorf("entry (%d,%d) is %v without an edge", i, j, v)
				}
				continue
			}
			if a := math.Abs(v); a < 0.3 || a >= 0.8 {
				t.Errorf("weight %v lies outside ±[0.3, 0.8)", v)
			}
			if i < j && v < 0 {
				negative++
			}
		}
	}
	n := float64(len(g.Edges))
	if math.Abs(float64(negative)-n/2) > 5*math.Sqrt(n)/2 {
		t.Errorf("%d of %v weights are negative", negative, n)
	}
}

func TestWeightsPanicsOnASelfLoop(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a self-loop is accepted")
		}
	}()
	Graph{Nodes: 2, Edges: [][2]int{{1, 1}}}.Weights(seeded(1), Uniform(0, 1))
}

func TestPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := seeded(rapid.Uint64().Draw(t, "seed"))
		d := rapid.IntRange(1, 30).Draw(t, "d")
		smallest := math.Pow(10, rapid.Float64Range(-4, 2).Draw(t, "log10 smallest"))
		w := ErdosRenyi(rng, d, 0.3).Weights(rng, Uniform(-1, 1))
		theta, err := Precision(w, smallest)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, d)
		if err := dense.NewWorkspace(dense.Gonum{}, d).Eigen(theta, values, make([]float64, d*d)); err != nil {
			t.Fatal(err)
		}
		// Eigenvalues are good to a few rounding errors of the largest.
		if tol := 1e-14 * float64(d+2) * (1 + values[d-1]); math.Abs(values[0]-smallest) > tol {
			t.Errorf("smallest eigenvalue %v, want %v", values[0], smallest)
		}
		for i := range d {
			if theta.At(i, i) != theta.At(0, 0) {
				t.Error("the diagonal is not constant")
			}
			for j := range i {
				if theta.At(i, j) != w.At(i, j) {
					t.Errorf("entry (%d,%d) is no longer its weight", i, j)
				}
			}
		}
	})
}

func TestPrecisionRefuses(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Precision(dense.Identity(2), v); err == nil {
			t.Errorf("smallest eigenvalue %v is accepted", v)
		}
	}
	if _, err := Precision(dense.NewSym(1, []float64{math.Inf(1)}), 1); err == nil {
		t.Error("an infinite weight is accepted")
	}
	if theta, err := Precision(dense.NewSym(0, nil), 1); err != nil || theta.Len() != 0 {
		t.Errorf("no variables: %v", err)
	}
}

func network(t testing.TB, seed uint64, d int) (*rand.Rand, *dense.Sym) {
	t.Helper()
	rng := seeded(seed)
	theta, err := Precision(ScaleFree(rng, d, 2).Weights(rng, SignedUniform(0.3, 0.8)), 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return rng, theta
}

func inverse(t testing.TB, theta *dense.Sym) *dense.Sym {
	t.Helper()
	sigma := dense.NewSym(theta.Len(), nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, theta.Len()).Inverse(sigma, theta); !ok {
		t.Fatal("not positive definite")
	}
	return sigma
}

func TestStandardize(t *testing.T) {
	_, theta := network(t, 2, 40)
	r, err := Standardize(theta)
	if err != nil {
		t.Fatal(err)
	}
	sigma := inverse(t, r)
	for i := range theta.Len() {
		// Condition number about 20: two inversions lose at most 1e-13.
		if math.Abs(sigma.At(i, i)-1) > 1e-13 {
			t.Errorf("variance %d is %v, want 1", i, sigma.At(i, i))
		}
		for j := range i {
			want := theta.At(i, j) / math.Sqrt(theta.At(i, i)*theta.At(j, j))
			got := r.At(i, j) / math.Sqrt(r.At(i, i)*r.At(j, j))
			if math.Abs(got-want) > 1e-14 {
				t.Errorf("partial correlation (%d,%d) is %v, was %v", i, j, got, want)
			}
		}
	}
	if _, err := Standardize(dense.NewSym(2, nil)); !errors.Is(err, errNotDefinite) {
		t.Errorf("a singular matrix gives %v", err)
	}
}

func TestSamplesHaveTheCovariance(t *testing.T) {
	const d, m = 12, 200000
	rng, theta := network(t, 3, d)
	rows, err := Samples(context.Background(), rng, theta, m)
	if err != nil {
		t.Fatal(err)
	}
	sigma := inverse(t, theta)
	got := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Gonum{}, d).Gram(got, 1./m, rows, m, 0)
	for i := range d {
		for j := range i + 1 {
			// Var(xi·xj) = σii·σjj + σij²; 78 entries within five errors.
			se := math.Sqrt((sigma.At(i, i)*sigma.At(j, j) + sigma.At(i, j)*sigma.At(i, j)) / m)
			if math.Abs(got.At(i, j)-sigma.At(i, j)) > 5*se {
				t.Errorf("covariance (%d,%d) is %v, want %v ± %v", i, j, got.At(i, j), sigma.At(i, j), se)
			}
		}
		var mean float64
		for s := range m {
			mean += rows[s*d+i] / m
		}
		if se := math.Sqrt(sigma.At(i, i) / m); math.Abs(mean) > 5*se {
			t.Errorf("the mean of variable %d is %v, want 0 ± %v", i, mean, se)
		}
	}
}

func TestSameSeedSameBits(t *testing.T) {
	draw := func(seed uint64) []float64 {
		rng, theta := network(t, seed, 30)
		rows, err := Samples(context.Background(), rng, theta, 20)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if !slices.Equal(draw(7), draw(7)) {
		t.Error("one seed gives two tables")
	}
	if slices.Equal(draw(7), draw(8)) {
		t.Error("two seeds give one table")
	}
}

func TestSamplesRefuses(t *testing.T) {
	ctx := context.Background()
	if _, err := Samples(ctx, seeded(1), dense.NewSym(2, []float64{1, 2, 2, 1}), 3); !errors.Is(err, errNotDefinite) {
		t.Errorf("an indefinite matrix gives %v", err)
	}
	if _, err := Samples(ctx, seeded(1), dense.Identity(2), -1); err == nil {
		t.Error("−1 samples are accepted")
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Samples(ctx, seeded(1), dense.Identity(2), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

func BenchmarkSamples(b *testing.B) {
	for _, d := range []int{60, 500} {
		b.Run(fmt.Sprintf("d=%d/m=300", d), func(b *testing.B) {
			rng, theta := network(b, 1, d)
			for b.Loop() {
				if _, err := Samples(context.Background(), rng, theta, 300); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleSamples() {
	rng := rand.New(rand.NewPCG(1, 0))
	graph := ScaleFree(rng, 60, 2)
	theta, err := Precision(graph.Weights(rng, SignedUniform(0.3, 0.8)), 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := Samples(context.Background(), rng, theta, 300)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph.Nodes, "variables,", len(graph.Edges), "edges,", len(rows)/graph.Nodes, "samples")
	// Output: 60 variables, 117 edges, 300 samples
}
