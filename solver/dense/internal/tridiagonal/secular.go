package tridiagonal

import (
	"math"
	"sync/atomic"
)

// secular is the eigenproblem of D + ρzzᵀ with ρ > 0, D diagonal and strictly
// ascending and no entry of z zero: to find the roots of the secular equation
//
//	f(λ) = 1/ρ + Σ z²ⱼ/(dⱼ − λ) = 0,
//
// one in every interval (dᵢ, dᵢ₊₁) and one in (dₖ, dₖ + ρ‖z‖²).
type secular struct {
	k      int // poles
	stride int // k, rounded up to a multiple of 4
	rho    float64
	// inverse is 1/ρ.
	inverse float64
	d, z    []float64 // stride
	roots   []float64 // k
	exact   []float64 // stride; the z to which the roots are exact
	row     []float64 // stride
	// deltas is k×stride: dⱼ − λᵢ in row i, then the eigenvectors.
	deltas []float64
	taken  atomic.Int64 // steps, by all roots
	failed atomic.Bool  // a root was not found
}

// begin makes room for k poles; set each of them next.
func (u *secular) begin(k int, rho float64) {
	u.k, u.stride, u.rho, u.inverse = k, (k+3)&^3, rho, 1/rho
	u.taken.Store(0)
	u.failed.Store(false)
	u.d, u.z = grow(u.d, u.stride), grow(u.z, u.stride)
	u.exact, u.row = grow(u.exact, u.stride), grow(u.row, u.stride)
	u.roots = grow(u.roots, k)
	u.deltas = grow(u.deltas, k*u.stride)
	// Poles where z is 0 contribute nothing, wherever they are.
	for j := k; j < u.stride; j++ {
		u.d[j], u.z[j] = math.MaxFloat32, 0
	}
}

func (u *secular) set(j int, d, z float64) { u.d[j], u.z[j] = d, z }

// solve finds the roots and the differences to them, on as many goroutines as
// products share their work on. It reports whether it found them all.
func (u *secular) solve(products Products) bool {
	chunks := (u.k + chunk - 1) / chunk
	if s, ok := products.(interface{ Share(n int, f func(i int)) }); ok && chunks >= 4 {
		s.Share(chunks, u.some)
	} else {
		for c := range chunks {
			u.some(c)
		}
	}
	return !u.failed.Load()
}

// chunk is how many roots a goroutine finds at a time.
const chunk = 48

// some finds the roots of a chunk.
func (u *secular) some(c int) {
	for i := c * chunk; i < min((c+1)*chunk, u.k) && !u.failed.Load(); i++ {
		if !u.root(i, u.deltas[i*u.stride:(i+1)*u.stride]) {
			u.failed.Store(true)
		}
	}
}

const (
	// rationalSteps are what a root may take before it is bisected; it takes
	// two or three, seldom more than five.
	rationalSteps = 30
	// steps leaves room to bisect to the last bit of the smallest offset.
	steps = rationalSteps + 300
)

// root finds root i, and sets delta to the differences dⱼ − λ. The root is an
// offset from the nearer of the poles around it, so that each difference is
// accurate to a few roundings however close the poles are. It stops where f is
// less than what rounding does to it, or where the root lies between two
// neighbouring numbers.
func (u *secular) root(i int, delta []float64) bool {
	if u.k == 1 {
		tau := u.rho * u.z[0] * u.z[0]
		terms(delta, u.d, u.z, u.d[0], tau)
		u.roots[0] = u.d[0] + tau
		return true
	}
	last := i == u.k-1
	a := min(i, u.k-2) // the poles around the root are a and a + 1; for the last, those below it
	origin, low, high, tau := u.guess(a, last, delta)
	for step := range steps {
		u.taken.Add(1)
		exhausted := false
		if !(tau > low && tau < high) || step >= rationalSteps {
			tau = middle(low, high)
			if exhausted = tau <= low || tau >= high; exhausted {
				if tau = high; tau == 0 {
					tau = low
				}
			}
		}
		value, slope, size := terms(delta, u.d, u.z, u.d[origin], tau)
		value += u.inverse
		// Every term has seen four roundings, every one of four sums k/4.
		if exhausted || math.Abs(value) <= unit*(float64(u.k)/4+6)*(size+u.inverse) {
			u.roots[i] = u.d[origin] + tau
			return tau != 0
		}
		if value > 0 {
			high = tau
		} else {
			low = tau
		}
		tau += u.step(a, origin, last, delta, value, slope)
	}
	return false
}

// guess returns the pole from which a root is measured, the range of its offset
// and a first value within it: the root of the equation in which the poles a and
// a + 1 are as they are, and the others what they are in the middle of the range.
func (u *secular) guess(a int, last bool, delta []float64) (origin int, low, high, tau float64) {
	b := a + 1
	gap := u.d[b] - u.d[a]
	za, zb := u.z[a]*u.z[a], u.z[b]*u.z[b]
	from, half := a, gap/2
	if last {
		var norm2 float64
		for _, v := range u.z {
			norm2 += v * v
		}
		from, half = b, u.rho*norm2/2
	}
	value, _, _ := terms(delta, u.d, u.z, u.d[from], half)
	value += u.inverse
	others := value - za/delta[a] - zb/delta[b]
	switch {
	case last && value > 0:
		return b, 0, half, larger(others, za+zb-others*gap, -zb*gap)
	case last:
		return b, half, 2 * half, larger(others, za+zb-others*gap, -zb*gap)
	case value > 0:
		return a, 0, half, smaller(others, za+zb+others*gap, za*gap)
	default:
		return b, -half, 0, smaller(others, za+zb-others*gap, -zb*gap)
	}
}

// step is the way from an offset to the root of c + s/(d_a − λ) + t/(d_b − λ),
// in which s or t, that of the origin, is what it is in f, and c and the other
// give f its value and slope: the fixed-weight method of R.-C. Li, Solving
// secular equations stably and efficiently, LAPACK working note 89, 1993.
func (u *secular) step(a, origin int, last bool, delta []float64, value, slope float64) float64 {
	b := a + 1
	da, db := delta[a], delta[b]
	gap := u.d[b] - u.d[a]
	var c float64
	if origin == a {
		t := u.z[a] / da
		c = value - db*slope + gap*t*t
	} else {
		t := u.z[b] / db
		c = value - da*slope - gap*t*t
	}
	sum, product := (da+db)*value-da*db*slope, da*db*value
	var eta float64
	if last {
		eta = larger(c, sum, product)
	} else {
		eta = smaller(c, sum, product)
	}
	if value*eta >= 0 { // f rises: that is the wrong way
		return -value / slope
	}
	return eta
}

// smaller is (a − √(a² − 4bc))/2c, a root of cx² − ax + b.
func smaller(c, a, b float64) float64 {
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if a <= 0 {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}

// larger is (a + √(a² − 4bc))/2c, the other root.
func larger(c, a, b float64) float64 {
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if a >= 0 {
		return (a + root) / (2 * c)
	}
	return 2 * b / (a - root)
}

// middle is between low and high; where they have one sign and are of different
// orders of magnitude, between their exponents.
func middle(low, high float64) float64 {
	switch {
	case low > 0 && high > 4*low:
		return math.Sqrt(low) * math.Sqrt(high)
	case high < 0 && low < 4*high:
		return -math.Sqrt(-low) * math.Sqrt(-high)
	}
	return low + (high-low)/2
}

// vectors replaces row i of deltas by the eigenvector of root i, its entry j at
// place[j].
func (u *secular) vectors(place []int) {
	// Löwner's formula: z²ⱼ = (λⱼ − dⱼ) Π (λᵢ − dⱼ)/(dᵢ − dⱼ) over i ≠ j, but
	// for a factor of all.
	exact := u.exact
	for j := range exact {
		exact[j] = 1
	}
	for i := range u.k {
		delta := u.deltas[i*u.stride : (i+1)*u.stride]
		kept := exact[i]
		quotients(exact, delta, u.d, u.d[i])
		exact[i] = kept * -delta[i]
	}
	for j, v := range exact[:u.k] {
		exact[j] = math.Copysign(math.Sqrt(v), u.z[j])
	}
	clear(exact[u.k:])
	for i := range u.k {
		delta := u.deltas[i*u.stride : (i+1)*u.stride]
		scale := 1 / math.Sqrt(divide(u.row, exact, delta))
		for j, at := range place {
			delta[at] = u.row[j] * scale
		}
	}
}
