package association_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// samples are n samples of d variables that depend on each other, some with ties.
func samples(n, d int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([]float64, n*d)
	for k := range n {
		for v := range d {
			x := rng.NormFloat64()
			if v > 0 {
				x += 0.7 * rows[k*d+rng.IntN(v)]
			}
			if v%5 == 4 {
				x = math.Round(2 * x)
			}
			rows[k*d+v] = x
		}
	}
	return rows
}

func correlation(t testing.TB, rows []float64, d int, m covariance.Method) *dense.Sym {
	t.Helper()
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{Method: m})
	if err != nil {
		t.Fatal(err)
	}
	return r.S
}

// same compares pairs with what an independent computation says of them.
func same(t *testing.T, got *dense.Sym, tolerance float64, want func(i, j int) float64) {
	t.Helper()
	if a := got.Asymmetry(); a != 0 {
		t.Errorf("pairs differ from their reverse by %v", a)
	}
	for i := range got.Len() {
		if v := got.At(i, i); v != 0 {
			t.Errorf("variable %d scores %v with itself", i, v)
		}
		for j := range i {
			if w := want(i, j); !(math.Abs(got.At(i, j)-w) <= tolerance) {
				t.Fatalf("pair (%d,%d) scores %.15g, want %.15g", i, j, got.At(i, j), w)
			}
		}
	}
}

func scored(t *testing.T, d int, f func(ctx context.Context, dst *dense.Sym) error) *dense.Sym {
	t.Helper()
	dst := dense.NewSym(d, nil)
	for i := range dst.Raw() {
		dst.Raw()[i] = math.NaN() // whatever was there before
	}
	if err := f(t.Context(), dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

func TestSpectralScores(t *testing.T) {
	const n, d = 15, 22 // R is singular
	r := correlation(t, samples(n, d, 1), d, covariance.NormalScores)
	var s association.Scorer
	p, err := s.Decompose(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var eig mat.EigenSym
	a := mat.NewSymDense(d, r.Clone().Raw())
	if !eig.Factorize(a, true) {
		t.Fatal("no eigendecomposition")
	}
	var q mat.Dense
	eig.VectorsTo(&q)
	for name, g := range map[string]association.Filter{
		"power": association.Power, "logarithm": association.Logarithm, "shrunk": association.Shrunk(0.5),
	} {
		t.Run(name, func(t *testing.T) {
			entry := func(i, j int) (sum float64) {
				for k, v := range eig.Values(nil) {
					v = max(v, 0)
					f := map[string]float64{"power": math.Pow(v, 0.35), "logarithm": math.Log(1 + v/0.1), "shrunk": 2 / (1 + v)}[name]
					sum += q.At(i, k) * q.At(j, k) * f
				}
				return sum
			}
			got := scored(t, d, func(ctx context.Context, dst *dense.Sym) error { return p.Score(ctx, dst, g) })
			// Eigenvalues of 0 are known to 1e-15, of which the power 0.35 is 6e-6: it
			// stands beside others of that size in both computations.
			tolerance := map[string]float64{"power": 1e-4, "logarithm": 1e-12, "shrunk": 1e-12}[name]
			same(t, got, tolerance, func(i, j int) float64 {
				return math.Abs(entry(i, j)) / math.Sqrt(entry(i, i)*entry(j, j))
			})
		})
	}
}

func TestPartialCorrelation(t *testing.T) {
	const n, d, weight = 12, 20, 0.3
	r := correlation(t, samples(n, d, 2), d, covariance.Pearson)
	kept := r.Clone()
	var s association.Scorer
	got := scored(t, d, func(ctx context.Context, dst *dense.Sym) error {
		definite, err := s.PartialCorrelation(ctx, dst, r, weight)
		if !definite {
			t.Error("not definite")
		}
		return err
	})
	shrunk := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			v := (1 - weight) * kept.At(i, j)
			if i == j {
				v += weight
			}
			shrunk.Set(i, j, v)
		}
	}
	var theta mat.Dense
	if err := theta.Inverse(shrunk); err != nil {
		t.Fatal(err)
	}
	same(t, got, 1e-12, func(i, j int) float64 {
		return math.Abs(theta.At(i, j)) / math.Sqrt(theta.At(i, i)*theta.At(j, j))
	})
	for i, v := range kept.Raw() {
		if r.Raw()[i] != v {
			t.Fatal("the correlation has changed")
		}
	}
	// The spectral score with the same weight is the same score.
	p, err := s.Decompose(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	spectral := scored(t, d, func(ctx context.Context, dst *dense.Sym) error {
		return p.Score(ctx, dst, association.Shrunk(weight))
	})
	same(t, spectral, 1e-12, got.At)
}

func TestPartialCorrelationOfNothing(t *testing.T) {
	ones := dense.NewSym(2, []float64{1, 1, 1, 1})
	if definite, err := (association.Scorer{}).PartialCorrelation(t.Context(), dense.NewSym(2, nil), ones, 0); definite || err != nil {
		t.Errorf("a singular matrix has an inverse: %v, %v", definite, err)
	}
}

func TestInformation(t *testing.T) {
	r := dense.NewSym(4, nil)
	for i, v := range []float64{0, 0.5, -0.9, 1, -1, 1e-9} {
		pair := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}[i]
		r.Set(pair[0], pair[1], v)
	}
	got := scored(t, 4, func(ctx context.Context, dst *dense.Sym) error {
		return association.Scorer{}.Information(ctx, dst, r)
	})
	// 1 − 0.999999 is known to 1e-10 of itself.
	same(t, got, 1e-10, func(i, j int) float64 {
		v := math.Min(math.Abs(r.At(i, j)), 0.999999)
		return -0.5 * math.Log((1-v)*(1+v))
	})
}

func TestCLR(t *testing.T) {
	const d = 40
	r := correlation(t, samples(30, d, 3), d, covariance.Spearman)
	z := func(i, j int) float64 {
		var column []float64
		for k := range d {
			if k != j {
				column = append(column, r.At(k, j))
			}
		}
		mean, sd := stat.PopMeanStdDev(column, nil)
		return (r.At(i, j) - mean) / sd
	}
	want := func(i, j int) float64 { return math.Max(z(i, j), z(j, i)) }
	var s association.Scorer
	same(t, scored(t, d, func(ctx context.Context, dst *dense.Sym) error { return s.CLR(ctx, dst, r) }), 1e-12, want)
	in := r.Clone()
	if err := s.CLR(t.Context(), in, in); err != nil {
		t.Fatal(err)
	}
	same(t, in, 1e-12, want)
}

// Scores that are all equal stand out nowhere; a single variable has no pair.
func TestScoresOfEqualPairs(t *testing.T) {
	var s association.Scorer
	for _, d := range []int{1, 2, 5} {
		equal := dense.NewSym(d, nil)
		for i := range d {
			for j := range i {
				equal.Set(i, j, 0.3)
			}
		}
		for _, f := range []func(ctx context.Context, dst, a *dense.Sym) error{s.CLR, s.Standardise} {
			got := scored(t, d, func(ctx context.Context, dst *dense.Sym) error { return f(ctx, dst, equal) })
			same(t, got, 1e-9, func(int, int) float64 { return 0 })
		}
	}
}

func TestStandardise(t *testing.T) {
	const d = 37
	r := correlation(t, samples(20, d, 4), d, covariance.Pearson)
	var pairs []float64
	for i := range d {
		pairs = append(pairs, r.Row(i)[i+1:]...)
	}
	mean, sd := stat.PopMeanStdDev(pairs, nil)
	got := scored(t, d, func(ctx context.Context, dst *dense.Sym) error {
		return association.Scorer{}.Standardise(ctx, dst, r)
	})
	same(t, got, 1e-12, func(i, j int) float64 { return (r.At(i, j) - mean) / sd })
}

func TestMutualInformation(t *testing.T) {
	for _, c := range []struct{ n, bins int }{{2, 3}, {20, 3}, {64, 4}, {130, 5}, {500, 8}, {1000, 10}, {3000, 10}} {
		const d = 11
		if got := association.Bins(c.n); got != c.bins {
			t.Errorf("%d samples have %d bins, want %d", c.n, got, c.bins)
		}
		rows := samples(c.n, d, uint64(c.n))
		got, err := association.Scorer{}.MutualInformation(t.Context(), rows, d)
		if err != nil {
			t.Fatal(err)
		}
		bin := func(k, v int) int { // by counting those below and beside it
			rank := 0.5
			for o := range c.n {
				switch {
				case rows[o*d+v] < rows[k*d+v]:
					rank++
				case rows[o*d+v] == rows[k*d+v]:
					rank += 0.5
				}
			}
			return min(c.bins-1, int((rank-0.5)/float64(c.n)*float64(c.bins)+1e-9))
		}
		bins := make([][]int, d)
		for v := range d {
			for k := range c.n {
				bins[v] = append(bins[v], bin(k, v))
			}
		}
		same(t, got, 1e-12, func(i, j int) float64 {
			joint, x, y := map[[2]int]float64{}, map[int]float64{}, map[int]float64{}
			for k := range c.n {
				p := 1 / float64(c.n)
				joint[[2]int{bins[i][k], bins[j][k]}] += p
				x[bins[i][k]] += p
				y[bins[j][k]] += p
			}
			var sum float64
			for b, p := range joint {
				sum += p * math.Log(p/x[b[0]]/y[b[1]])
			}
			return math.Max(0, sum)
		})
	}
}
