package selection_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
	"github.com/gladflow/gladflow/solver/selection"
)

// A table is samples of a chain of d variables.
func table(t testing.TB, seed uint64, d, m int, s covariance.Settings) (solver.Problem, *covariance.Resampler) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	theta, err := simulate.Family{Graph: simulate.GraphBand, Dimension: d, Bandwidth: 1, SmallestEigenvalue: 0.3}.Precision(rng)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := simulate.Samples(t.Context(), rng, theta, m)
	if err != nil {
		t.Fatal(err)
	}
	return tableOf(t, rows, d, s)
}

func tableOf(t testing.TB, rows []float64, d int, s covariance.Settings) (solver.Problem, *covariance.Resampler) {
	t.Helper()
	whole, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return solver.Problem{S: whole.S, Samples: whole.Samples}, &covariance.Resampler{Rows: rows, D: d, Settings: s, Whole: whole}
}

// cold solves without the path.
func cold(t testing.TB, s *dense.Sym, rho float64) *solver.Estimate {
	t.Helper()
	est, err := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: rho}, Gap: 1e-12}}.Solve(t.Context(), solver.Problem{S: s})
	if err != nil {
		t.Fatal(err)
	}
	return est
}

func logDet(a *dense.Sym) float64 {
	v, _ := dense.NewWorkspace(dense.Gonum{}, a.Len()).LogDet(a, make([]float64, a.Len()*a.Len()))
	return v
}

// The criterion of every point is that of a solution from nowhere, and the choice the least.
func TestEBIC(t *testing.T) {
	p, _ := table(t, 1, 12, 80, covariance.Settings{})
	free := 2 * 80 * math.Sqrt(1e-12*12) // a gap leaves its root to the likelihood
	for _, c := range []struct {
		set   selection.Settings
		gamma float64
	}{{selection.Settings{}, 0.5}, {selection.Settings{Gamma: 1}, 1}, {selection.Settings{BIC: true}, 0}} {
		c.set.Gap = 1e-12
		got, err := selection.EBIC(t.Context(), p, c.set)
		if err != nil {
			t.Fatal(err)
		}
		if first := got.Path[0]; first.Edges != 0 || len(got.Path) < 5 {
			t.Errorf("γ = %v: the path of %d points begins at %+v", c.gamma, len(got.Path), first)
		}
		for k, pt := range got.Path {
			est := cold(t, p.S, pt.Penalty)
			want := -80*(logDet(est.Precision)-p.S.Dot(est.Precision)) + float64(est.Edges())*(math.Log(80)+4*c.gamma*math.Log(12))
			if math.Abs(pt.Criterion-want) > free || pt.Edges != float64(est.Edges()) {
				t.Errorf("γ = %v, point %d: %v with %v edges, want %v with %d", c.gamma, k, pt.Criterion, pt.Edges, want, est.Edges())
			}
			if pt.Criterion < got.Path[got.Chosen].Criterion || k > 0 && !(pt.Penalty < got.Path[k-1].Penalty && pt.Penalty > 0.849*got.Path[k-1].Penalty) {
				t.Errorf("γ = %v, point %d: %+v", c.gamma, k, pt)
			}
		}
		if got.Rho != got.Path[got.Chosen].Penalty {
			t.Errorf("γ = %v: penalty %v", c.gamma, got.Rho)
		}
	}
}

// The criterion of Refit is that of regressions solved another way: the residual variance is
// Sjj less what the inverse of the neighbours' covariance explains, ridge and all.
func TestRefit(t *testing.T) {
	p, _ := table(t, 2, 12, 60, covariance.Settings{})
	got, err := selection.Refit(t.Context(), p, selection.Settings{Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	const m, d = 60, 12
	binomial := func(n, k int) float64 {
		v := 0.0
		for i := range k {
			v += math.Log(float64(n-i)) - math.Log(float64(i+1))
		}
		return v
	}
	for k, pt := range got.Path {
		est := cold(t, p.S, pt.Penalty)
		ridge := pt.Penalty / 10
		var sum float64
		for j := range d {
			var of []int
			for i := range d {
				if i != j && est.Precision.At(i, j) != 0 {
					of = append(of, i)
				}
			}
			v := 1.0
			if n := len(of); n > 0 {
				gram := p.S.Submatrix(of)
				lifted := gram.Clone()
				lifted.AddDiagonal(ridge)
				inverse := dense.NewSym(n, nil)
				dense.NewWorkspace(dense.Gonum{}, n).Inverse(inverse, lifted)
				b := make([]float64, n)
				for x := range n {
					for y, i := range of {
						b[x] += inverse.At(x, y) * p.S.At(i, j)
					}
				}
				for x, i := range of {
					v -= 2 * b[x] * p.S.At(i, j)
					for y := range of {
						v += b[x] * gram.At(x, y) * b[y]
					}
				}
			}
			sum += math.Log(v)
		}
		e := est.Edges()
		want := m/2.*sum + float64(e)*math.Log(m) + 2*selection.DefaultRefitGamma*binomial(d*(d-1)/2, e)
		if math.Abs(pt.Criterion-want) > 1e-8*math.Abs(want)+1e-9 {
			t.Errorf("point %d: %v, want %v", k, pt.Criterion, want)
		}
	}
	// Of two variables the pseudo-likelihood is the likelihood.
	pair := dense.Identity(2)
	pair.Set(0, 1, 0.6)
	got, err = selection.Refit(t.Context(), solver.Problem{S: pair, Samples: 50}, selection.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	last := got.Path[len(got.Path)-1]
	if want := 50*math.Log(1-0.36) + math.Log(50); math.Abs(last.Criterion-want) > 1e-3 {
		t.Errorf("a pair: %v at penalty %v, want %v", last.Criterion, last.Penalty, want)
	}
}

// The held-out likelihood is that of solutions from nowhere, and the choice the largest
// penalty within one standard error of the best.
func TestHeldOut(t *testing.T) {
	const d, m, folds = 8, 47, 4
	_, from := table(t, 3, d, m, covariance.Settings{})
	got, err := selection.HeldOut(t.Context(), from, nil, selection.Settings{Folds: folds, Seed: 9, Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	// Folds are as likely as any other division: what is compared is the average over all
	// samples of a fold, so every sample must be held out once.
	train, held := selection.FoldsOf(m, folds, 9)
	seen := make([]int, m)
	for k := range folds {
		for _, i := range held[k] {
			seen[i]++
		}
		if len(train[k])+len(held[k]) != m || slices.ContainsFunc(train[k], func(i int) bool { return slices.Contains(held[k], i) }) {
			t.Errorf("fold %d: %v and %v", k, train[k], held[k])
		}
	}
	if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) || got.Resamples != folds || got.Size != 35 {
		t.Errorf("held out %v, %d folds, %d samples", seen, got.Resamples, got.Size)
	}
	best := slices.MaxFunc(got.Path, func(a, b selection.Point) int { return int(math.Copysign(1, a.Criterion-b.Criterion)) })
	for i, pt := range got.Path {
		var values [folds]float64
		var mean, spread, edges float64
		for k := range folds {
			s, err := from.Estimate(t.Context(), train[k], dense.Gonum{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := from.HeldOut(t.Context(), from.Rows, train[k], held[k], s, dense.Gonum{})
			if err != nil {
				t.Fatal(err)
			}
			est := cold(t, s, pt.Penalty)
			values[k] = (logDet(est.Precision) - out.Dot(est.Precision)) / 2
			mean += values[k] / folds
			edges += float64(est.Edges()) / folds
		}
		for _, v := range values {
			spread += (v - mean) * (v - mean) / (folds - 1) / folds
		}
		if math.Abs(pt.Criterion-mean) > 1e-5 || math.Abs(pt.Error-math.Sqrt(spread)) > 1e-5 || pt.Edges != edges {
			t.Errorf("point %d: %v ± %v, %v edges; want %v ± %v, %v", i, pt.Criterion, pt.Error, pt.Edges, mean, math.Sqrt(spread), edges)
		}
		if within := pt.Criterion >= best.Criterion-best.Error; within != (i >= got.Chosen) && i <= got.Best {
			t.Errorf("point %d of %v, chosen %d, best %v ± %v", i, pt.Criterion, got.Chosen, best.Criterion, best.Error)
		}
	}
	if got.Path[got.Best].Penalty != best.Penalty || got.Chosen > got.Best {
		t.Errorf("best %d, chosen %d", got.Best, got.Chosen)
	}
}

// The bounds of two subsamples change nothing: the choice is that of all subsamples at every
// penalty of the path, each solved from nowhere.
func TestStARS(t *testing.T) {
	for _, c := range []struct {
		d, m, n   int
		threshold float64
	}{{8, 60, 20, 0}, {8, 60, 7, 0.1}, {15, 30, 20, 0.02}, {15, 200, 12, 0}, {5, 20, 2, 0.2}} {
		_, from := table(t, 4, c.d, c.m, covariance.Settings{})
		set := selection.Settings{Subsamples: c.n, Threshold: c.threshold, Seed: 3, Gap: 1e-9}
		got, err := selection.StARS(t.Context(), from, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		threshold := c.threshold
		if threshold == 0 {
			threshold = selection.DefaultThreshold
		}
		size := int(0.8 * float64(c.m))
		if c.m > 144 {
			size = int(10 * math.Sqrt(float64(c.m)))
		}
		covariances := make([]*dense.Sym, c.n)
		for k := range covariances {
			rows := selection.SubsampleOf(c.m, k, 3)
			if len(rows) != size || got.Size != size || len(slices.Compact(slices.Sorted(slices.Values(rows)))) != size {
				t.Fatalf("subsample %d: %v of %d", k, rows, c.m)
			}
			if covariances[k], err = from.Estimate(t.Context(), rows, dense.Gonum{}); err != nil {
				t.Fatal(err)
			}
		}
		chosen, crossed := 0, false
		for i, pt := range got.Path {
			share := dense.NewSym(c.d, nil)
			var edges float64
			for _, s := range covariances {
				est := cold(t, s, pt.Penalty)
				for a := range c.d {
					for b := range a {
						if est.Support.At(a, b) != 0 {
							share.Set(a, b, share.At(a, b)+1/float64(c.n))
							edges += 1 / float64(c.n)
						}
					}
				}
			}
			var instability float64
			for a := range c.d {
				for b := range a {
					instability += 2 * share.At(a, b) * (1 - share.At(a, b)) / float64(c.d*(c.d-1)/2)
				}
			}
			if pt.Resamples == c.n && (math.Abs(pt.Criterion-instability) > 1e-9 || math.Abs(pt.Edges-edges) > 1e-9) {
				t.Errorf("%+v, point %d: instability %v of %v edges, want %v of %v", c, i, pt.Criterion, pt.Edges, instability, edges)
			}
			if crossed = crossed || instability > threshold; !crossed {
				chosen = i
			}
		}
		at := got.Path[got.Chosen]
		if got.Chosen != chosen || at.Resamples != c.n || at.Penalty != got.Rho {
			t.Errorf("%+v: chosen %d with %d subsamples, want %d", c, got.Chosen, at.Resamples, chosen)
		}
	}
}

// The penalty of Rotation leaves no edge of permuted samples, and hardly any of samples that
// are not related; a smaller one leaves some of every permutation.
func TestRotation(t *testing.T) {
	_, from := table(t, 5, 20, 100, covariance.Settings{})
	got, err := selection.Rotation(t.Context(), from, nil, selection.Settings{Permutations: 8})
	if err != nil || len(got.Permuted) != 8 || got.Rho != slices.Min(got.Permuted) || got.Chosen != -1 {
		t.Fatalf("%+v, %v", got, err)
	}
	// The largest of 190 correlations of 100 samples: about √(2·log 190/100) = 0.32.
	if got.Rho < 0.2 || got.Rho > 0.4 {
		t.Errorf("penalty %v, want about 0.3", got.Rho)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]float64, 100*20)
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	p, from := tableOf(t, noise, 20, covariance.Settings{})
	if got, err = selection.Rotation(t.Context(), from, nil, selection.Settings{}); err != nil {
		t.Fatal(err)
	}
	if e := cold(t, p.S, got.Rho).Edges(); e > 3 {
		t.Errorf("%d edges in noise", e)
	}
}

// The number of edges is reached wherever a penalty has it.
func TestEdges(t *testing.T) {
	p, _ := table(t, 6, 12, 40, covariance.Settings{})
	for n := range 12 * 11 / 2 {
		got, err := selection.Edges(t.Context(), p, n, selection.Settings{Gap: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		edges := cold(t, p.S, got.Rho).Edges()
		if float64(edges) != got.Path[got.Chosen].Edges || got.Rho != got.Path[got.Chosen].Penalty {
			t.Errorf("%d edges: %d at the penalty chosen, and the path says %v", n, edges, got.Path[got.Chosen].Edges)
		}
		if edges == n {
			continue
		}
		for rho := got.Path[0].Penalty; rho > 1e-3; rho *= 0.995 {
			if e := cold(t, p.S, rho).Edges(); abs(e-n) < abs(edges-n) {
				t.Errorf("%d edges: %d are chosen, and penalty %v leaves %d", n, edges, rho, e)
			}
		}
	}
	// Two edges of one size come in at one penalty, and the fewer are taken.
	s := dense.Identity(4)
	s.Set(0, 1, 0.5)
	s.Set(2, 3, 0.5)
	got, err := selection.Edges(t.Context(), solver.Problem{S: s}, 1, selection.Settings{})
	if err != nil || got.Path[got.Chosen].Edges != 0 || !(got.Rho >= 0.5) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := selection.Edges(t.Context(), solver.Problem{S: s}, 7, selection.Settings{}); err == nil {
		t.Error("7 edges of 6 pairs")
	}
}

func abs(v int) int { return max(v, -v) }

// Where the path of HeldOut ends nothing better would have come: with the path continued, each
// fold solved at every penalty, the best is not above what was found by more than a twentieth of
// its standard error, which is what the choice is made with.
func TestHeldOutEndsAtTheBest(t *testing.T) {
	const folds = 5
	for seed, c := range []struct {
		graph string
		d, m  int
	}{
		{simulate.GraphHub, 20, 30}, {simulate.GraphBlock, 20, 100}, {simulate.GraphSmallWorld, 15, 300},
		{simulate.GraphBand, 10, 150}, {simulate.GraphScaleFree, 30, 60}, {"none", 20, 50}, {"none", 10, 200},
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 12))
		theta := dense.Identity(c.d)
		if c.graph != "none" {
			var err error
			if theta, err = (simulate.Family{Graph: c.graph, Dimension: c.d, SmallestEigenvalue: 0.3}).Precision(rng); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := simulate.Samples(t.Context(), rng, theta, c.m)
		if err != nil {
			t.Fatal(err)
		}
		_, from := tableOf(t, rows, c.d, covariance.Settings{})
		got, err := selection.HeldOut(t.Context(), from, nil, selection.Settings{Folds: folds, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		train, held := selection.FoldsOf(c.m, folds, 1)
		var covariances, out [folds]*dense.Sym
		for k := range folds {
			if covariances[k], err = from.Estimate(t.Context(), train[k], dense.Gonum{}); err != nil {
				t.Fatal(err)
			}
			if out[k], err = from.HeldOut(t.Context(), from.Rows, train[k], held[k], covariances[k], dense.Gonum{}); err != nil {
				t.Fatal(err)
			}
		}
		best, last := got.Path[got.Best], got.Path[len(got.Path)-1]
		if last.Edges >= math.Max(float64(c.d*(c.d-1))/4, 4*float64(c.d)) {
			continue // it ends at half of all pairs, whatever the criterion
		}
		after := 0
		for rho := last.Penalty * 0.85; rho > 1e-3*got.Path[0].Penalty; rho *= 0.85 {
			var mean float64
			for k := range folds {
				est := cold(t, covariances[k], rho)
				mean += (logDet(est.Precision) - out[k].Dot(est.Precision)) / 2 / folds
			}
			if after++; mean > best.Criterion+best.Error/20 {
				t.Errorf("%s, %d × %d: %v at penalty %v, after %v ± %v at %v", c.graph, c.m, c.d, mean, rho, best.Criterion, best.Error, best.Penalty)
			}
		}
		if after == 0 {
			t.Errorf("%s, %d × %d: the path goes to its end, penalty %v", c.graph, c.m, c.d, last.Penalty)
		}
	}
}

// The result does not depend on the number of threads, although some folds are ahead of others.
func TestHeldOutThreads(t *testing.T) {
	_, from := table(t, 8, 15, 40, covariance.Settings{})
	var first *selection.Choice
	for _, threads := range []int{1, 2, 3, 8} {
		set := selection.Settings{Folds: 5, Engine: dense.WithThreads(dense.Gonum{}, threads)}
		got, err := selection.HeldOut(t.Context(), from, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		for k := range got.Path {
			got.Path[k].Elapsed = 0
			if p := &got.Path[k]; p.LogLikelihood != p.LogLikelihood {
				p.LogLikelihood = 0
			}
		}
		if first == nil {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("%d threads: %+v\nwant %+v", threads, got, first)
		}
	}
}
