package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkMatrix is a random covariance of a condition number below 100.
func benchmarkMatrix(n int) *Sym {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, 2*n*n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	s := NewSym(n, nil)
	NewWorkspace(Gonum{}, n).Gram(s, 1/float64(2*n), x, 2*n, 0)
	return s
}

func BenchmarkKernels(b *testing.B) {
	for _, n := range []int{32, 100, 500, 1000} {
		s := benchmarkMatrix(n)
		vectors, values := make([]float64, n*n), make([]float64, n)
		dst := NewSym(n, nil)
		for _, e := range engines(b) {
			w := NewWorkspace(e, n)
			run := func(kernel string, f func()) {
				b.Run(fmt.Sprintf("%s/n=%d/%s", kernel, n, engineName(e)), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						f()
					}
				})
			}
			run("Eigen", func() {
				if err := w.Eigen(s, values, vectors); err != nil {
					b.Fatal(err)
				}
			})
			run("Spectral", func() { w.Spectral(dst, values, vectors) })
			run("Symm", func() { w.Mul(vectors, s, s) })
			run("Syrk", func() { e.Syrk(true, n, n, 1, s.Raw(), n, 0, vectors, n) })
			run("LogDet", func() { w.LogDet(s, vectors) })
			run("Inverse", func() { w.Inverse(dst, s) })
		}
	}
}
