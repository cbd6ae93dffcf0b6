package stability

import "math"

// A concave bounds the tail of a distribution on 0, 1, …, n whose probabilities f are
// r-concave with r = −1/s < 0, that is f^r is convex, and whose mean is at most mean.
type concave struct {
	mean float64
	n    int
	s    int // 2 or 4
}

// tail is the largest P(X ≥ t), 1 for t up to twice the mean.
//
// The largest tail belongs to f^r that is linear, f(i) ∝ (a+i)^(−s), on 0, …, k, with a last
// probability at k+1 that is between 0 and what would be linear too, and nothing beyond:
// Shah and Samworth, Appendix A.4. The mean leaves one number free for each k, which is
// searched. A last probability of 0 and a full one are the ends of the search.
func (c *concave) tail(t int) float64 {
	if t > c.n || c.mean <= 0 {
		return 0
	}
	if float64(t-1) < 2*c.mean {
		return 1
	}
	best := 0.0
	above := c.slope(max(t-1, 1)) // of support 0, …, k
	for k := max(t-1, 1); k <= c.n; k++ {
		if k == c.n {
			best = math.Max(best, c.at(k, t, above))
			break
		}
		below := c.slope(k + 1) // with a full probability at k+1
		best = math.Max(best, maximum(func(a float64) float64 { return c.at(k, t, a) }, below, above))
		above = below
	}
	return math.Min(1, best)
}

// slope is the a at which the distribution on 0, …, k has the mean: large for one that is
// nearly uniform, small for one that is nearly all at 0.
func (c *concave) slope(k int) float64 {
	low, high := math.Log(1e-12), math.Log(1e12)
	for range 100 {
		middle := (low + high) / 2
		mass, first, _ := c.sums(k, 0, math.Exp(middle))
		if first > c.mean*mass {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// at is P(X ≥ t) of the distribution on 0, …, k with slope a, whose mean falls short by
// what the probability at k+1 makes up for.
func (c *concave) at(k, t int, a float64) float64 {
	mass, first, tail := c.sums(k, t, a)
	if k == c.n {
		return tail / mass
	}
	last := math.Max(0, (c.mean*mass-first)/(float64(k+1)-c.mean))
	return (tail + last) / (mass + last)
}

// sums are those of (a+i)^(−s), of i(a+i)^(−s), and of the first from t on, over 0, …, k, in
// units of a^(−s).
func (c *concave) sums(k, t int, a float64) (mass, first, tail float64) {
	for i := range k + 1 {
		f := a / (a + float64(i))
		f *= f
		if c.s == 4 {
			f *= f
		}
		mass += f
		first += float64(i) * f
		if i >= t {
			tail += f
		}
	}
	return mass, first, tail
}

// maximum is that of f between two positive numbers, on a scale of logarithms: the best of
// a grid, refined by golden sections.
func maximum(f func(float64) float64, from, to float64) float64 {
	const points = 16
	low, high := math.Log(from), math.Log(to)
	best, at := math.Inf(-1), 0
	for i := range points + 1 {
		if v := f(math.Exp(low + (high-low)*float64(i)/points)); v > best {
			best, at = v, i
		}
	}
	step := (high - low) / points
	l, h := math.Max(math.Min(low, high), low+step*float64(at)-math.Abs(step)), math.Min(math.Max(low, high), low+step*float64(at)+math.Abs(step))
	golden := (math.Sqrt(5) - 1) / 2
	for range 40 {
		x, y := h-golden*(h-l), l+golden*(h-l)
		fx, fy := f(math.Exp(x)), f(math.Exp(y))
		best = math.Max(best, math.Max(fx, fy))
		if fx > fy {
			h = y
		} else {
			l = x
		}
	}
	return best
}
