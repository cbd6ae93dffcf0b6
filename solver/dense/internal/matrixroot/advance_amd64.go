package matrixroot

import machine "golang.org/x/sys/cpu"

var haveAVX2 = machine.X86.HasAVX2

// advanceAVX2 is advanceGo for terms > 0 and chunks > 0, with the same bits.
//
//go:noescape
func advanceAVX2(sums, state, ratios *float64, terms, chunks int)

func advance(sums, state, ratios []float64, chunks int) {
	if !haveAVX2 || chunks == 0 {
		advanceGo(sums, state, ratios, chunks)
		return
	}
	terms := len(ratios) / 2
	_, _ = sums[chunks*chunk-1], state[chunks*chunk*2*terms-1]
	advanceAVX2(&sums[0], &state[0], &ratios[0], terms, chunks)
}
