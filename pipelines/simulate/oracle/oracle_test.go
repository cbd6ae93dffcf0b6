package oracle

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

func seeded(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

func logLikelihood(theta, s *dense.Sym, m int) float64 {
	d := theta.Len()
	logdet, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(theta, make([]float64, d*d))
	if !ok {
		return math.Inf(-1)
	}
	return float64(m) / 2 * (logdet - theta.Dot(s))
}

// The distribution of one entry against its definition: the determinant of the
// whole matrix on a fine grid.
func TestEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := seeded(rapid.Uint64().Draw(t, "seed"), 0)
		d := rapid.IntRange(2, 8).Draw(t, "d")
		m := rapid.SampledFrom([]int{4, 20, 100, 1000}).Draw(t, "m")
		p := rapid.Float64Range(0.05, 0.9).Draw(t, "p")
		smallest := rapid.SampledFrom([]float64{0.05, 1}).Draw(t, "smallest eigenvalue")
		f := simulate.Family{Graph: "er", Dimension: d, Density: 0.6, SmallestEigenvalue: smallest}
		theta, err := f.Precision(rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate.Covariance(context.Background(), rng, theta, m)
		if err != nil {
			t.Fatal(err)
		}
		i, j := 0, 1+rng.IntN(d-1)
		w := dense.NewSym(d, nil)
		dense.NewWorkspace(dense.Gonum{}, d).Inverse(w, theta)
		u := w.At(i, j)
		got := newEntry(-1, 1, p, m, defaultPoints).at(theta.At(i, j), u, w.At(i, i)*w.At(j, j)-u*u, s.At(i, j))

		other := theta.Clone()
		at := func(x float64) float64 {
			other.Set(i, j, x)
			return logLikelihood(other, s, m)
		}
		const n = 4000
		logs := make([]float64, n)
		x := func(k int) float64 { return -1 + (float64(k)+0.5)*2/n }
		for k := range logs {
			logs[k] = at(x(k))
		}
		spike := at(0)
		highest := max(spike, slices.Max(logs))
		var sum, moment float64
		for k, l := range logs {
			q := math.Exp(l - highest)
			sum += q / n
			moment += q / n * x(k)
		}
		slab, none := p*sum, (1-p)*math.Exp(spike-highest)
		// The oracle integrates by 24 nodes, this by a fine grid: they differ by
		// far less than the sweeps vary.
		if want := slab / (slab + none); math.Abs(got.inclusion-want) > 1e-4 {
			t.Errorf("probability of an edge %v, want %v", got.inclusion, want)
		}
		if want := p * moment / (slab + none); math.Abs(got.mean-want) > 1e-4 {
			t.Errorf("mean %v, want %v", got.mean, want)
		}
	})
}

// For two and three variables the posterior can be integrated outright.
func TestPosteriorMeanByIntegration(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		seed uint64
		m    int
		p    float64
	}{{1, 3, 0.5}, {2, 20, 0.3}, {3, 60, 0.7}} {
		f := simulate.Family{Graph: "er", Dimension: 3, Density: 0.6}
		rng := seeded(c.seed, 0)
		theta, err := f.Precision(rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulate.Covariance(ctx, rng, theta, c.m)
		if err != nil {
			t.Fatal(err)
		}
		diagonal := []float64{theta.At(0, 0), theta.At(1, 1), theta.At(2, 2)}
		mean, inclusion, err := PosteriorMean(ctx, rng, s, c.m, diagonal, c.p, Options{Sweeps: 20000})
		if err != nil {
			t.Fatal(err)
		}
		want, edges := integrate(s, c.m, diagonal, c.p)
		for k, pair := range pairs {
			i, j := pair[0], pair[1]
			// 16,000 correlated draws leave some 0.005 of an sd below 0.6.
			if math.Abs(mean.At(i, j)-want[k]) > 0.015 || math.Abs(inclusion.At(i, j)-edges[k]) > 0.015 {
				t.Errorf("m = %d, (%d, %d): mean %.4f and probability %.4f, want %.4f and %.4f",
					c.m, i, j, mean.At(i, j), inclusion.At(i, j), want[k], edges[k])
			}
			if mean.At(i, j) != mean.At(j, i) {
				t.Error("the mean is not symmetric")
			}
		}
	}
}

var pairs = [][2]int{{0, 1}, {0, 2}, {1, 2}}

// integrate sums the posterior of three entries on a grid whose first point is
// the spike.
func integrate(s *dense.Sym, m int, diagonal []float64, p float64) (mean, edges [3]float64) {
	const n = 60
	x := func(k int) (value, weight float64) {
		if k == 0 {
			return 0, 1 - p
		}
		return -1 + (float64(k)-0.5)*2/n, p / n
	}
	theta := dense.NewSym(3, nil)
	for i, v := range diagonal {
		theta.Set(i, i, v)
	}
	offset := logLikelihood(theta, s, m)
	var total float64
	for k := range (n + 1) * (n + 1) * (n + 1) {
		index := [3]int{k % (n + 1), k / (n + 1) % (n + 1), k / (n + 1) / (n + 1)}
		weight := 1.
		var values [3]float64
		for e, pair := range pairs {
			v, w := x(index[e])
			values[e] = v
			weight *= w
			theta.Set(pair[0], pair[1], v)
		}
		weight *= math.Exp(logLikelihood(theta, s, m) - offset)
		total += weight
		for e := range pairs {
			mean[e] += weight * values[e]
			if index[e] > 0 {
				edges[e] += weight
			}
		}
	}
	for e := range pairs {
		mean[e] /= total
		edges[e] /= total
	}
	return mean, edges
}

// Where truth and model agree, probabilities are frequencies and the error of
// the mean is uncorrelated with it: E[θ·mean] = E[mean²].
func TestPosteriorMeanIsCalibrated(t *testing.T) {
	const d, m, p, graphs, diagonal = 12, 30, 0.2, 60, 4
	var edges, expected, variance, cross, crossSquares float64
	for k := range uint64(graphs) {
		rng := seeded(11, k)
		weights := simulate.ErdosRenyi(rng, d, p).Weights(rng, simulate.Uniform(-1, 1))
		weights.AddDiagonal(diagonal)
		s, err := simulate.Covariance(context.Background(), rng, weights, m)
		if err != nil {
			t.Fatal(err)
		}
		mean, inclusion, err := PosteriorMean(context.Background(), rng, s, m, slices.Repeat([]float64{diagonal}, d), p, Options{Sweeps: 200})
		if err != nil {
			t.Fatal(err)
		}
		var graph float64
		for i := range d {
			for j := range i {
				if weights.At(i, j) != 0 {
					edges++
				}
				q := inclusion.At(i, j)
				expected += q
				variance += q * (1 - q)
				graph += mean.At(i, j) * (weights.At(i, j) - mean.At(i, j))
			}
		}
		cross += graph
		crossSquares += graph * graph
	}
	if math.Abs(edges-expected) > 4*math.Sqrt(variance) {
		t.Errorf("%v edges, expected %v ± %v", edges, expected, math.Sqrt(variance))
	}
	if se := math.Sqrt(crossSquares); math.Abs(cross) > 4*se {
		t.Errorf("Σ mean·(θ − mean) is %v, want 0 ± %v", cross, se)
	}
}

func TestRefuses(t *testing.T) {
	ctx := context.Background()
	one := dense.Identity(2)
	two := []float64{1, 1}
	for what, call := range map[string]func() error{
		"no samples": func() error { _, _, err := PosteriorMean(ctx, seeded(1, 0), one, 0, two, 0.1, Options{}); return err },
		"density 1":  func() error { _, _, err := PosteriorMean(ctx, seeded(1, 0), one, 5, two, 1, Options{}); return err },
		"a short diagonal": func() error {
			_, _, err := PosteriorMean(ctx, seeded(1, 0), one, 5, two[:1], 0.1, Options{})
			return err
		},
		"a zero diagonal": func() error {
			_, _, err := PosteriorMean(ctx, seeded(1, 0), one, 5, []float64{1, 0}, 0.1, Options{})
			return err
		},
		"only burn-in": func() error {
			_, _, err := PosteriorMean(ctx, seeded(1, 0), one, 5, two, 0.1, Options{Sweeps: 5, BurnIn: 5})
			return err
		},
		"reversed weights": func() error {
			_, _, err := PosteriorMean(ctx, seeded(1, 0), one, 5, two, 0.1, Options{Low: 1, High: -1})
			return err
		},
		"an infinite value": func() error {
			_, err := Ceiling(dense.NewSym(1, []float64{math.Inf(1)}), 5, dense.Identity(1), 0.1)
			return err
		},
		"an indefinite truth": func() error {
			_, err := Ceiling(one, 5, dense.NewSym(2, []float64{1, 2, 2, 1}), 0.1)
			return err
		},
		"another dimension": func() error { _, err := Ceiling(one, 5, dense.Identity(3), 0.1); return err },
	} {
		if err := call(); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := PosteriorMean(cancelled, seeded(1, 0), one, 5, two, 0.1, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

func TestSameSeedSameBits(t *testing.T) {
	theta, s := example(t, simulate.Family{Graph: "er", Dimension: 15}, 30, 1, 0)
	diagonal := slices.Repeat([]float64{theta.At(0, 0)}, 15)
	run := func(seed uint64) []float64 {
		mean, _, err := PosteriorMean(context.Background(), seeded(seed, 0), s, 30, diagonal, 0.1, Options{Sweeps: 20})
		if err != nil {
			t.Fatal(err)
		}
		return mean.Raw()
	}
	if !slices.Equal(run(1), run(1)) || slices.Equal(run(1), run(2)) {
		t.Error("the seed does not decide the result")
	}
}

func example(t testing.TB, f simulate.Family, m int, seed, stream uint64) (theta, s *dense.Sym) {
	t.Helper()
	rng := seeded(seed, stream)
	theta, err := f.Precision(rng)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = simulate.Covariance(context.Background(), rng, theta, m); err != nil {
		t.Fatal(err)
	}
	return theta, s
}

// each runs f for every graph on the cores there are.
func each(n int, f func(k int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for k := range n {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			f(k)
			<-slots
		}()
	}
	wg.Wait()
}

func BenchmarkPosteriorMean(b *testing.B) {
	theta, s := example(b, simulate.Family{Graph: "er", Dimension: 100}, 100, 1, 0)
	diagonal := slices.Repeat([]float64{theta.At(0, 0)}, 100)
	for b.Loop() {
		if _, _, err := PosteriorMean(context.Background(), seeded(1, 0), s, 100, diagonal, 0.1, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
