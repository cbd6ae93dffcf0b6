package glad

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A posterior-mean model hands out Z where that is positive definite, Θ where
// it is not, and in both cases a support that is Z without what is below the
// threshold.
func TestPosteriorEstimate(t *testing.T) {
	definite, indefinite := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 2, Sigmoid, Exp)
		if m.Kind != GLADPM {
			t.Skip("another kind")
		}
		m.Threshold = rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "threshold")
		s := drawCovariance(t, 20)
		var theta, z *dense.Sym
		est, err := Solver{Model: m, Backend: CPU{Engine: dense.Gonum{}}}.Trajectory(context.Background(), solver.Problem{S: s}, func(s Step) {
			theta, z = pairOf(t, s)
		})
		if err != nil {
			t.Fatal(err)
		}
		checkEstimate(t, est)
		want := theta
		if positiveDefinite(z) {
			want = z
			definite++
		} else {
			indefinite++
		}
		// On the border rounding decides, and either is right.
		if e := distance(est.Precision, want); e != 0 && !nearlySingular(z) {
			t.Errorf("Precision differs from the matrix it should be by %v", e)
		}
		p := est.Precision
		for i := range s.Len() {
			for j := range s.Len() {
				v := z.At(i, j)
				if i != j && math.Abs(v) < m.Threshold*math.Sqrt(p.At(i, i)*p.At(j, j)) {
					v = 0
				}
				if got := est.Support.At(i, j); got != v {
					t.Errorf("Support(%d,%d) is %v, want %v", i, j, got, v)
				}
			}
		}
	})
	if definite == 0 || indefinite == 0 {
		t.Errorf("%d of the drawn Z were positive definite and %d were not: one case is untested", definite, indefinite)
	}
}

// nearlySingular says whether the smallest eigenvalue of a is within rounding
// of zero.
func nearlySingular(a *dense.Sym) bool {
	n := a.Len()
	values := make([]float64, n)
	if err := dense.NewWorkspace(dense.Gonum{}, n).Eigen(a, values, make([]float64, n*n)); err != nil {
		panic(err)
	}
	return math.Abs(values[0]) < 1e3*Resolution(n)*norm(a)
}

// The default model gives something sane on any covariance: finite and positive
// definite, where S is singular, nearly so, or of unlike scales.
func TestGeneralIsSane(t *testing.T) {
	m := builtinModel(t, DefaultModelName)
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "d")
		samples := rapid.IntRange(1, 80).Draw(t, "M")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		from, s := randomCovariance(r, d, samples), dense.NewSym(d, nil)
		spread := rapid.Float64Range(0, 4).Draw(t, "spread")
		collinear := rapid.Float64Range(0, 1).Draw(t, "collinear")
		scale := make([]float64, d)
		for i := range scale {
			scale[i] = math.Pow(10, spread*(2*r.Float64()-1))
		}
		for i := range d {
			for j := range i + 1 {
				// Towards the covariance of copies of one variable.
				v := (1-collinear)*from.At(i, j) + collinear*math.Sqrt(from.At(i, i)*from.At(j, j))
				s.Set(i, j, v*scale[i]*scale[j])
			}
		}
		est := solve(t, Solver{Model: m}, s)
		checkEstimate(t, est)
		if est.Status != solver.Completed {
			t.Errorf("status %v", est.Status)
		}
	})
}

// λ(Θ − Z) is Θ⁻¹ − S, on which the score step rests.
func TestScore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	s := randomCovariance(r, 12, 30)
	c := loaded(t, paperModel(r, 1), s, dense.Gonum{})
	if err := c.Initial(t.Context(), 0.5); err != nil {
		t.Fatal(err)
	}
	const lambda = 0.7
	if err := c.thetaStep(t.Context(), lambda); err != nil {
		t.Fatal(err)
	}
	inverse := dense.NewSym(12, nil)
	if _, ok := c.work.Inverse(inverse, c.next); !ok {
		t.Fatal("Θ is not positive definite")
	}
	for i := range 12 {
		for j := range 12 {
			got, want := lambda*(c.next.At(i, j)-c.pair.z.At(i, j)), inverse.At(i, j)-s.At(i, j)
			if math.Abs(got-want) > 1e-10 {
				t.Errorf("the score at (%d,%d) is %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestLikelySamples(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, m := range []int{10, 100, 1000} {
		const d = 60
		x := make([]float64, m*d)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		s := dense.NewSym(d, nil)
		dense.NewWorkspace(dense.Gonum{}, d).Gram(s, 1/float64(m), x, m, 0)
		got := likelySamples(s)
		if got < 0.8*float64(m) || got > 1.25*float64(m) {
			t.Errorf("%v samples are guessed where there are %d", got, m)
		}
	}
	// The median is the one of all squares in order, for any number of goroutines.
	for _, d := range []int{2, 3, 60, 700} {
		s := dense.NewSym(d, nil)
		var all []float64
		for i := range d {
			s.Set(i, i, 1+r.Float64())
			for j := range i {
				s.Set(i, j, math.Round(10*r.NormFloat64())/100)
			}
		}
		f := deviations(s)
		for i := range d {
			for j := i + 1; j < d; j++ {
				v := s.At(i, j) / (f[i] * f[j])
				all = append(all, v*v)
			}
		}
		slices.Sort(all)
		if got := medianSquare(s, len(all)); got != all[len(all)/2] {
			t.Errorf("d = %d: the median is %v, want %v", d, got, all[len(all)/2])
		}
	}
	if got := likelySamples(dense.Identity(1)); !(got > 0) || math.IsInf(got, 1) {
		t.Errorf("of one variable %v samples are guessed", got)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 1, Sigmoid, Exp)
		m.Card = Card{Dimension: Counts{5}, Validation: map[string]any{"nmse_db": -1.0}}
		before := m.Values()
		c := m.Clone()
		zero := make([]float64, len(before))
		c.SetValues(zero)
		c.Card.Dimension[0], c.Card.Validation["nmse_db"] = 6, -2.0
		for i, v := range m.Values() {
			if v != before[i] {
				t.Fatalf("value %d changed with the copy", i)
			}
		}
		if m.Card.Dimension[0] != 5 || m.Card.Validation["nmse_db"] != -1.0 {
			t.Error("the card changed with the copy")
		}
		m.SetValues(c.Values())
		for i, v := range m.Values() {
			if v != 0 {
				t.Fatalf("value %d is %v after SetValues", i, v)
			}
		}
	})
}
