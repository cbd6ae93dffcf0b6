//go:build !amd64

package matrixroot

func advance(sums, state, ratios []float64, chunks int) { advanceGo(sums, state, ratios, chunks) }
