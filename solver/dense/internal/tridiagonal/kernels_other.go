//go:build !amd64

package tridiagonal

func terms(delta, d, z []float64, origin, tau float64) (value, slope, size float64) {
	return termsGo(delta, d, z, origin, tau)
}

func quotients(p, delta, d []float64, pole float64) { quotientsGo(p, delta, d, pole) }

func divide(to, a, b []float64) float64 { return divideGo(to, a, b) }
