package covariance

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestShrunkDeviationsByHand(t *testing.T) {
	// log s² is ∓2, its variance 8, and the weight 1 − (2/M)/8.
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-14*b }
	got := ShrunkDeviations([]float64{math.Exp(-1), math.E}, 4)
	if w := 1 - 0.5/8; !near(got[0], math.Exp(-w)) || !near(got[1], math.Exp(w)) {
		t.Errorf("%v, want exp ∓%v", got, w)
	}
	// Differences that chance explains go: both become the geometric mean.
	if got = ShrunkDeviations([]float64{2, 2.2}, 10); !near(got[0], math.Sqrt(4.4)) || !near(got[1], math.Sqrt(4.4)) {
		t.Errorf("%v, want √4.4 twice", got)
	}
	for _, same := range []struct {
		deviations []float64
		samples    int
	}{{nil, 5}, {[]float64{3}, 5}, {[]float64{1, 9}, 0}, {[]float64{8, 8, 8, 8}, 5}} {
		got := ShrunkDeviations(same.deviations, same.samples)
		if !slices.EqualFunc(got, same.deviations, near) {
			t.Errorf("%v of %d samples become %v", same.deviations, same.samples, got)
		}
	}
}

func TestShrunkDeviationsKeepOrderAndUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 2, 20).Draw(t, "deviations")
		m := rapid.IntRange(1, 1000).Draw(t, "samples")
		unit := rapid.Float64Range(1e-3, 1e3).Draw(t, "unit")
		before := slices.Clone(s)
		got := ShrunkDeviations(s, m)
		if !slices.Equal(s, before) {
			t.Fatal("the argument has changed")
		}
		low, high := slices.Min(s), slices.Max(s)
		for i, v := range got {
			if !(v >= low*(1-1e-12) && v <= high*(1+1e-12)) {
				t.Errorf("%v lies outside %v to %v", v, low, high)
			}
			for j := range i {
				if (s[i]-s[j])*(v-got[j]) < 0 && math.Abs(v/got[j]-1) > 1e-12 {
					t.Errorf("%v and %v change their order: %v, %v", s[i], s[j], v, got[j])
				}
			}
		}
		scaled := make([]float64, len(s))
		for i, v := range s {
			scaled[i] = unit * v
		}
		for i, v := range ShrunkDeviations(scaled, m) {
			if math.Abs(v/(unit*got[i])-1) > 1e-6 {
				t.Errorf("in another unit %v, want %v", v, unit*got[i])
			}
		}
	})
}

// Of variables with one variance the shrunk deviations are nearer to the truth, several
// times in mean square; where variances differ much they are as good as the plain ones.
func TestShrunkDeviationsGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	const d, m, tables = 60, 50, 40
	for _, spread := range []float64{0, 1} {
		var plain, shrunk float64
		for range tables {
			truth, s := make([]float64, d), make([]float64, d)
			for i := range truth {
				truth[i] = math.Exp(spread * (2*rng.Float64() - 1))
				for range m {
					x := truth[i] * rng.NormFloat64()
					s[i] += x * x / m
				}
				s[i] = math.Sqrt(s[i])
			}
			for i, v := range ShrunkDeviations(s, m) {
				a, b := math.Log(s[i]/truth[i]), math.Log(v/truth[i])
				plain += a * a
				shrunk += b * b
			}
		}
		if limit := map[float64]float64{0: 0.2, 1: 1}[spread]; shrunk > limit*plain {
			t.Errorf("spread %v: square error %v of the shrunk, %v of the plain", spread, shrunk, plain)
		}
	}
}
