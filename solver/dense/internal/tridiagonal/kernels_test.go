package tridiagonal

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The kernels of this machine give the bits of those in Go.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Exp(5*r.NormFloat64()) * (r.Float64() - .5)
		}
		return x
	}
	same := func(name string, n int, got, want []float64) {
		t.Helper()
		for i, v := range want {
			if got[i] != v {
				t.Fatalf("%s, n = %d: number %d is %v, in Go %v", name, n, i, got[i], v)
			}
		}
	}
	for n := 4; n <= 40; n += 4 {
		d, z, got, want := draw(n), draw(n), make([]float64, n), make([]float64, n)
		origin, tau := r.NormFloat64(), r.NormFloat64()
		a, b, c := terms(got, d, z, origin, tau)
		x, y, w := termsGo(want, d, z, origin, tau)
		same("terms", n, got, want)
		same("sums of terms", n, []float64{a, b, c}, []float64{x, y, w})

		delta := draw(n)
		copy(got, z)
		copy(want, z)
		quotients(got, delta, d, tau)
		quotientsGo(want, delta, d, tau)
		same("quotients", n, got, want)

		a, x = divide(got, z, delta), divideGo(want, z, delta)
		same("divide", n, append(got, a), append(want, x))
	}
}
