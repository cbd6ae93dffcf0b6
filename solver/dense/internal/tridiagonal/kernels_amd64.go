package tridiagonal

import machine "golang.org/x/sys/cpu"

var haveAVX2 = machine.X86.HasAVX2

// termsAVX2 is termsGo on n > 0 terms, n a multiple of 4; sums are value, slope
// and size.
//
//go:noescape
func termsAVX2(delta, d, z *float64, n int, origin, tau float64, sums *[3]float64)

// quotientsAVX2 is quotientsGo in the same way.
//
//go:noescape
func quotientsAVX2(p, delta, d *float64, n int, pole float64)

// divideAVX2 is divideGo in the same way.
//
//go:noescape
func divideAVX2(to, a, b *float64, n int) float64

func terms(delta, d, z []float64, origin, tau float64) (value, slope, size float64) {
	if !haveAVX2 {
		return termsGo(delta, d, z, origin, tau)
	}
	var sums [3]float64
	termsAVX2(&delta[0], &d[0], &z[0], len(d), origin, tau, &sums)
	return sums[0], sums[1], sums[2]
}

func quotients(p, delta, d []float64, pole float64) {
	if !haveAVX2 {
		quotientsGo(p, delta, d, pole)
		return
	}
	quotientsAVX2(&p[0], &delta[0], &d[0], len(d), pole)
}

func divide(to, a, b []float64) float64 {
	if !haveAVX2 {
		return divideGo(to, a, b)
	}
	return divideAVX2(&to[0], &a[0], &b[0], len(to))
}
