package tridiagonal

import "math"

// The kernels go over lengths that are multiples of four, and sum every fourth
// term by itself, as the registers do: their results are the same to the bit.

// termsGo sets delta to (d − origin) − tau, the differences to the number tau
// above the pole origin, and returns Σ z²/delta, its slope Σ z²/delta², and
// Σ |z²/delta|.
func termsGo(delta, d, z []float64, origin, tau float64) (value, slope, size float64) {
	var v, s, a [4]float64
	z, delta = z[:len(d)], delta[:len(d)]
	for j := 0; j+4 <= len(d); j += 4 {
		for i := range 4 {
			x := (d[j+i] - origin) - tau
			delta[j+i] = x
			t := z[j+i] / x
			f := float64(z[j+i] * t) // not fused with the sums
			v[i] += f
			s[i] += float64(t * t)
			a[i] += math.Abs(f)
		}
	}
	return fourSum(v), fourSum(s), fourSum(a)
}

// quotientsGo multiplies every p by delta/(d − pole).
func quotientsGo(p, delta, d []float64, pole float64) {
	p, delta = p[:len(d)], delta[:len(d)]
	for j, v := range d {
		p[j] *= delta[j] / (v - pole)
	}
}

// divideGo sets to to a/b and returns the sum of squares.
func divideGo(to, a, b []float64) float64 {
	var s [4]float64
	a, b = a[:len(to)], b[:len(to)]
	for j := 0; j+4 <= len(to); j += 4 {
		for i := range 4 {
			q := a[j+i] / b[j+i]
			to[j+i] = q
			s[i] += float64(q * q)
		}
	}
	return fourSum(s)
}

func fourSum(s [4]float64) float64 { return (s[0] + s[2]) + (s[1] + s[3]) }
