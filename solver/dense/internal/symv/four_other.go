//go:build !amd64

package symv

const haveAVX2 = false

func four(sums *[4]float64, a []float64, lda int, x, y []float64, f *[4]float64) {
	fourGo(sums, a, lda, x, y, f)
}
