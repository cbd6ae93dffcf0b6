package covariance_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

var methods = []covariance.Method{covariance.Pearson, covariance.Spearman, covariance.Nonparanormal, covariance.NormalScores, covariance.Covariance}

type table struct {
	m, d int
	rows []float64
}

func drawTable(t *rapid.T) table {
	m := rapid.OneOf(rapid.IntRange(2, 20), rapid.IntRange(250, 600)).Draw(t, "samples")
	d := rapid.IntRange(1, 12).Draw(t, "variables")
	rows := normalTable(rapid.Uint64().Draw(t, "seed"), m, d)
	if rapid.Bool().Draw(t, "ties") {
		for i := range rows {
			rows[i] = math.Round(rows[i] * 2)
		}
		for j := range d {
			rows[j] = 20 // so that no column is constant
		}
	}
	return table{m, d, rows}
}

func (a table) estimate(t *rapid.T, s covariance.Settings) *covariance.Result {
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(a.rows, a.d), a.d, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// each is a table of the same size, f applied to every entry.
func (a table) each(f func(j int, v float64) float64) table {
	rows := make([]float64, len(a.rows))
	for i, v := range a.rows {
		rows[i] = f(i%a.d, v)
	}
	return table{a.m, a.d, rows}
}

func TestBatchesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		s := covariance.Settings{Method: rapid.SampledFrom(methods).Draw(t, "method"), LedoitWolf: rapid.Bool().Draw(t, "LedoitWolf")}
		want := a.estimate(t, s)
		got, err := covariance.Estimate(t.Context(), &batches{
			rows:  a.rows,
			d:     a.d,
			sizes: rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 17, 100, 256, 300}), 1, 5).Draw(t, "sizes"),
			atEOF: rapid.Bool().Draw(t, "atEOF"),
		}, a.d, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.S.Raw() {
			if v != want.S.Raw()[i] {
				t.Fatalf("entry %d is %.17g in batches and %.17g at once", i, v, want.S.Raw()[i])
			}
		}
		if got.Samples != a.m || got.Shrinkage != want.Shrinkage {
			t.Fatalf("%d samples, weight %v; want %d, %v", got.Samples, got.Shrinkage, a.m, want.Shrinkage)
		}
	})
}

func TestShapeOfS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		s := covariance.Settings{Method: rapid.SampledFrom(methods).Draw(t, "method")}
		switch rapid.IntRange(0, 2).Draw(t, "shrinkage") {
		case 1:
			s.LedoitWolf = true
		case 2:
			s.Shrinkage = rapid.Float64Range(0, 1).Draw(t, "weight")
		}
		r := a.estimate(t, s)
		if r.S.Asymmetry() != 0 || !r.S.Finite() {
			t.Fatal("S is not symmetric or not finite")
		}
		if r.Shrinkage < 0 || r.Shrinkage > 1 {
			t.Fatalf("weight %v", r.Shrinkage)
		}
		if s.Method != covariance.Covariance {
			for i := range a.d {
				for j := range a.d {
					if v := r.S.At(i, j); math.Abs(v) > 1 || i == j && v != 1 {
						t.Fatalf("entry (%d,%d) is %.17g", i, j, v)
					}
				}
			}
		}
		values := make([]float64, a.d)
		if err := dense.NewWorkspace(dense.Gonum{}, a.d).Eigen(r.S, values, make([]float64, a.d*a.d)); err != nil {
			t.Fatal(err)
		}
		// d roundings of the entries and of the decomposition.
		if values[0] < -1e-14*values[a.d-1] {
			t.Fatalf("eigenvalues from %v to %v", values[0], values[a.d-1])
		}
	})
}

func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		s := covariance.Settings{Method: rapid.SampledFrom(methods).Draw(t, "method")}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		columns, samples := r.Perm(a.d), r.Perm(a.m)
		b := table{a.m, a.d, make([]float64, len(a.rows))}
		for k, from := range samples {
			for j, c := range columns {
				b.rows[k*a.d+j] = a.rows[from*a.d+c]
			}
		}
		want, got := a.estimate(t, s), b.estimate(t, s)
		for i := range a.d {
			for j := range a.d {
				w := want.S.At(columns[i], columns[j])
				unit := math.Sqrt(want.S.At(columns[i], columns[i]) * want.S.At(columns[j], columns[j]))
				if g := got.S.At(i, j); math.Abs(g-w) > 1e-13*unit { // sums of 600 in another order
					t.Fatalf("entry (%d,%d) is %v, want %v", i, j, g, w)
				}
			}
		}
	})
}

func TestAffineInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		d := a.d
		factor := rapid.SliceOfN(rapid.SampledFrom([]float64{1e-6, -3, 0.7, 1e6}), d, d).Draw(t, "factor")
		offset := rapid.SliceOfN(rapid.Float64Range(-10, 10), d, d).Draw(t, "offset")
		b := a.each(func(j int, v float64) float64 { return factor[j] * (v + offset[j]) })
		want, got := a.estimate(t, covariance.Settings{}), b.estimate(t, covariance.Settings{})
		// The map itself rounds entries of up to 300 to 1e-16 of themselves:
		// less than 1e-12 of a deviation of 0.3. A few samples may lie closer.
		tolerance := func(i int) float64 { return 1e-12 * math.Max(1, 0.3/want.StdDevs[i]) }
		for i := range d {
			for j := range d {
				w := want.S.At(i, j) * math.Copysign(1, factor[i]*factor[j])
				if g := got.S.At(i, j); math.Abs(g-w) > math.Max(tolerance(i), tolerance(j)) {
					t.Fatalf("entry (%d,%d) is %v, want %v", i, j, g, w)
				}
			}
			if w := want.StdDevs[i] * math.Abs(factor[i]); math.Abs(got.StdDevs[i]-w) > tolerance(i)*w {
				t.Fatalf("standard deviation %d is %v, want %v", i, got.StdDevs[i], w)
			}
		}
	})
}

// Rank methods see the order of the values and nothing else.
func TestMonotoneInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		s := covariance.Settings{Method: rapid.SampledFrom([]covariance.Method{covariance.Spearman, covariance.Nonparanormal, covariance.NormalScores}).Draw(t, "method")}
		kind := rapid.IntRange(0, 2).Draw(t, "map")
		b := a.each(func(_ int, v float64) float64 {
			// Strictly increasing also after rounding, for these tables.
			switch kind {
			case 0:
				return math.Exp(v / 100)
			case 1:
				return v * v * v
			}
			return 2*v + math.Ceil(v)
		})
		want, got := a.estimate(t, s), b.estimate(t, s)
		for i, v := range got.S.Raw() {
			if v != want.S.Raw()[i] {
				t.Fatalf("entry %d is %v, want %v", i, v, want.S.Raw()[i])
			}
		}
	})
}

// Without ties Spearman's coefficient is 1 − 6·Σδ²/(M³−M) (Spearman 1904).
func TestSpearmanClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 400).Draw(t, "samples")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p, q := r.Perm(m), r.Perm(m)
		rows := make([]float64, 0, 2*m)
		var squares float64
		for k := range m {
			rows = append(rows, math.Exp(float64(p[k])/100), -1/float64(1+q[k]))
			squares += float64((p[k] - q[k]) * (p[k] - q[k]))
		}
		want := 1 - 6*squares/(float64(m)*(float64(m)*float64(m)-1))
		got := table{m, 2, rows}.estimate(t, covariance.Settings{Method: covariance.Spearman})
		if math.Abs(got.S.At(0, 1)-want) > 1e-13 {
			t.Fatalf("%v, want %v", got.S.At(0, 1), want)
		}
	})
}

// The weight of Ledoit and Wolf is the definition's, Σk ‖xk·xkᵀ − S‖² summed
// matrix by matrix.
func TestLedoitWolfDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		m := float64(a.m)
		r := a.estimate(t, covariance.Settings{Method: covariance.Covariance, LedoitWolf: true})
		s := a.estimate(t, covariance.Settings{Method: covariance.Covariance}).S
		mu := s.Trace() / float64(a.d)
		var beta, delta float64
		for i := range a.d {
			for j := range a.d {
				v := s.At(i, j)
				for k := range a.m {
					x := (a.rows[k*a.d+i] - r.Means[i]) * (a.rows[k*a.d+j] - r.Means[j])
					beta += (x - v) * (x - v) / (m * m)
				}
				if i == j {
					v -= mu
				}
				delta += v * v
			}
		}
		want := 0.0
		if a.d > 1 { // one variable is its own target
			want = min(beta, delta) / delta
		}
		if math.Abs(r.Shrinkage-want) > 1e-9*(1+s.Dot(s)/max(delta, 1e-300)) {
			t.Fatalf("weight %v, want %v", r.Shrinkage, want)
		}
	})
}
