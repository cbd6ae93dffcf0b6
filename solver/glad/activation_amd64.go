package glad

import machine "golang.org/x/sys/cpu"

var (
	haveAVX2   = machine.X86.HasAVX2 && machine.X86.HasFMA
	haveAVX512 = haveAVX2 && machine.X86.HasAVX512F
)

// tanhAVX2 is tanhGo on the first n values from y on, n a multiple of 4, four at
// a time. It needs AVX2 and FMA.
//
//go:noescape
func tanhAVX2(y *float64, n int)

// tanhAVX512 is tanhAVX2 for n a multiple of 8, with the same bits.
//
//go:noescape
func tanhAVX512(y *float64, n int)

// sigmoidsAVX2 is sigmoidsGo in the same way. Below -708, where sigmoid is less
// than the least normal number, it is 0.
//
//go:noescape
func sigmoidsAVX2(y *float64, n int)

// tanh replaces every x by tanh(x), to a relative 1e-15.
func tanh(y []float64) {
	if !haveAVX2 {
		tanhGo(y)
		return
	}
	inFours(Tanh, y)
}

// sigmoids replaces every x by 1/(1 + e⁻ˣ), to a relative 1e-15.
func sigmoids(y []float64) {
	if !haveAVX2 {
		sigmoidsGo(y)
		return
	}
	inFours(Sigmoid, y)
}

// inFours calls the function for a on y. The rest of less than four is padded,
// so that a value does not depend on where it stands.
func inFours(a Activation, y []float64) {
	n := len(y) &^ 3
	if first := n &^ 7; first > 0 {
		fours(a, &y[0], first)
	}
	if n%8 != 0 {
		fours(a, &y[n-4], 4)
	}
	if rest := y[n:]; len(rest) > 0 {
		var four [4]float64
		copy(four[:], rest)
		fours(a, &four[0], 4)
		copy(rest, four[:])
	}
}

func fours(a Activation, y *float64, n int) {
	switch {
	case a != Tanh:
		sigmoidsAVX2(y, n)
	case haveAVX512 && n%8 == 0:
		tanhAVX512(y, n)
	default:
		tanhAVX2(y, n)
	}
}
