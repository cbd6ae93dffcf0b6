package symv

import machine "golang.org/x/sys/cpu"

var haveAVX2 = machine.X86.HasAVX2 && machine.X86.HasFMA

// fourAVX2 is fourGo for n > 0, a multiple of 4. It fuses products and sums, and adds the products
// of a row in another order.
//
//go:noescape
func fourAVX2(sums *[4]float64, a *float64, lda, n int, x, y *float64, f *[4]float64)

func four(sums *[4]float64, a []float64, lda int, x, y []float64, f *[4]float64) {
	n := len(x) &^ 3
	if !haveAVX2 || n == 0 {
		fourGo(sums, a, lda, x, y, f)
		return
	}
	_, _ = a[3*lda+len(x)-1], y[len(x)-1]
	fourAVX2(sums, &a[0], lda, n, &x[0], &y[0], f)
	if n < len(x) {
		var rest [4]float64
		fourGo(&rest, a[n:], lda, x[n:], y[n:], f)
		for k, v := range rest {
			sums[k] += v
		}
	}
}
