package stability

import (
	"math"
	"math/rand/v2"
	"testing"
)

// unimodalTail is the largest P(X ≥ t) of a unimodal distribution on 0, …, n whose mean is
// at most mean: mixtures of uniform ones on intervals that hold the mode, of which a mean
// and a sum leave two.
func unimodalTail(mean float64, n, t int) float64 {
	type uniform struct{ mean, tail float64 }
	best := 0.0
	for mode := range n + 1 {
		var all []uniform
		for a := range mode + 1 {
			for b := mode; b <= n; b++ {
				all = append(all, uniform{float64(a+b) / 2, float64(max(0, b-max(a, t)+1)) / float64(b-a+1)})
			}
		}
		for _, u := range all {
			if u.mean <= mean {
				best = math.Max(best, u.tail)
			}
			for _, v := range all {
				if u.mean <= mean && v.mean > mean {
					w := (mean - u.mean) / (v.mean - u.mean)
					best = math.Max(best, (1-w)*u.tail+w*v.tail)
				}
			}
		}
	}
	return best
}

// The bound for unimodal distributions is one, and it is reached for some thresholds.
func TestUnimodal(t *testing.T) {
	for _, pairs := range []int{5, 10, 16} {
		for _, theta := range []float64{0.05, 0.2, 0.4, 0.57} {
			b := NewBounds(theta*1000, 1000, pairs)
			closest := 0.0
			for times := pairs + 1; times <= 2*pairs; times++ {
				c := b.unimodal(float64(times) / float64(2*pairs))
				if math.IsInf(c, 1) {
					continue
				}
				exact := unimodalTail(theta*theta*float64(pairs), pairs, times-pairs)
				if exact > c*theta*theta+1e-12 {
					t.Errorf("B=%d, θ=%v, %d halves: the bound is %v, and %v is possible", pairs, theta, times, c*theta*theta, exact)
				}
				closest = math.Max(closest, exact/(c*theta*theta))
			}
			if closest < 0.9 {
				t.Errorf("B=%d, θ=%v: at most %v of the bound is reached", pairs, theta, closest)
			}
		}
	}
}

// Searching r-concave distributions at random comes near to the largest tail, and no
// nearer than it.
func TestConcaveTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 7
	for _, s := range []int{2, 4} {
		for _, mean := range []float64{0.1, 0.6, 1.2} {
			c := concave{mean: mean, n: n, s: s}
			for tail := int(2*mean) + 2; tail <= n; tail++ {
				bound := c.tail(tail)
				best := 0.0
				for k := tail; k <= n; k++ { // the support is 0, …, k
					best = math.Max(best, climb(rng, k, tail, s, mean))
				}
				if best > bound+1e-9 || best < 0.98*bound {
					t.Errorf("s=%d, mean %v, P(X ≥ %d): %v was found, the bound is %v", s, mean, tail, best, bound)
				}
			}
		}
	}
}

// climb looks for a large P(X ≥ t) over f = g^(−s), g convex on 0, …, k, f·i at most mean in
// the sum.
func climb(rng *rand.Rand, k, t, s int, mean float64) float64 {
	value := func(slopes []float64) float64 {
		g, mass, first, tail := 1.0, 0.0, 0.0, 0.0
		for i := range k + 1 {
			if i > 0 {
				g += slopes[i-1]
			}
			if g <= 0 {
				return -1
			}
			f := math.Pow(g, -float64(s))
			mass, first = mass+f, first+float64(i)*f
			if i >= t {
				tail += f
			}
		}
		if first > mean*mass {
			return -1
		}
		return tail / mass
	}
	best := 0.0
	for range 3 {
		bends := make([]float64, k) // the first slope, and what is added to it, none negative
		bends[0] = 1e3
		slopes := make([]float64, k)
		now := -1.0
		for step := 3.0; step > 1e-4; step *= 0.997 {
			at := rng.IntN(k)
			old := bends[at]
			switch rng.IntN(8) {
			case 0:
				bends[at] = 0
			case 1:
				bends[at] = rng.Float64()
			default:
				bends[at] = (old + 1e-3*step*rng.Float64()) * math.Exp(step*rng.NormFloat64())
			}
			other, kept := rng.IntN(k), 0.0
			if kept = bends[other]; other != at { // two at a time, to stay at the mean
				bends[other] *= math.Exp(step * rng.NormFloat64())
			}
			sum := 0.0
			for i, b := range bends {
				sum += b
				slopes[i] = sum
			}
			if v := value(slopes); v >= now {
				now = v
				continue
			}
			if other != at {
				bends[other] = kept
			}
			bends[at] = old
		}
		best = math.Max(best, now)
	}
	return best
}

// Bounds fall with the number of halves, each below the one that assumes less, and are
// nothing where nothing was selected.
func TestBoundsFall(t *testing.T) {
	for _, pairs := range []int{1, 4, 50} {
		for _, q := range []float64{0.3, 20, 300, 900} {
			b := NewBounds(q, 1000, pairs)
			last := Bound{1000, 1000, 1000}
			for times := range 2*pairs + 1 {
				v := b.At(times)
				if times <= pairs && v != (Bound{1000, 1000, 1000}) {
					t.Errorf("%d of %d halves: %+v", times, 2*pairs, v)
				}
				const rounding = 1 + 1e-6
				if v.Concave > v.Unimodal || v.Unimodal > v.WorstCase || v.Concave < 0 || v.Concave > last.Concave*rounding || v.WorstCase > last.WorstCase {
					t.Errorf("q=%v, B=%d: %+v after %+v", q, pairs, v, last)
				}
				last = v
			}
			for _, expected := range []float64{0.5, 5, 999, 1000} {
				at := b.Threshold(expected)
				if at <= 2*pairs && b.At(at).Concave > expected || at > 0 && b.At(at-1).Concave <= expected {
					t.Errorf("q=%v, B=%d: at most %v from %d halves on", q, pairs, expected, at)
				}
			}
		}
	}
	none := NewBounds(0, 10, 5)
	if none.At(6) != (Bound{}) || none.At(5) != (Bound{10, 10, 10}) || none.Threshold(1) != 6 {
		t.Errorf("%+v, %+v, from %d halves on", none.At(6), none.At(5), none.Threshold(1))
	}
	// q²/((2τ−1)p) = 20²/((2·0.9−1)·1000)
	if v := NewBounds(20, 1000, 50).At(90).WorstCase; math.Abs(v-0.5) > 1e-12 {
		t.Errorf("worst case %v", v)
	}
}
