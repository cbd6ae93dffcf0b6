package glad

import machine "golang.org/x/sys/cpu"

var haveAVX2 = machine.X86.HasAVX2 && machine.X86.HasFMA

// tanhAVX2 is tanhGo on the first n values from y on, n a multiple of 4, four at
// a time. It needs AVX2 and FMA.
//
//go:noescape
func tanhAVX2(y *float64, n int)

// tanh replaces every x by tanh(x), to a relative 1e-15.
func tanh(y []float64) {
	n := 0
	if haveAVX2 && len(y) >= 4 {
		n = len(y) &^ 3
		tanhAVX2(&y[0], n)
	}
	// The rest is padded, so that a value does not depend on where it stands.
	if rest := y[n:]; haveAVX2 && len(rest) > 0 {
		var four [4]float64
		copy(four[:], rest)
		tanhAVX2(&four[0], 4)
		copy(rest, four[:])
		return
	}
	tanhGo(y[n:])
}
