package covariance

import "github.com/gladflow/gladflow/solver/dense"

// Memory is what Estimate takes at a time for d variables, in bytes, S among it and
// without the samples that it keeps: see SampleMemory.
func Memory(d int) int64 {
	const blocks = 3 // one as it comes, one in its own unit, one that is kept and not full
	return 8 * int64(d) * (int64(d) + blocks*(blockRows+1))
}

// SampleMemory is what Estimate keeps of every sample until the last has come, in
// bytes: nothing for Pearson and Covariance.
func SampleMemory(d int, s Settings) int64 {
	switch {
	case s.ranked():
		const perRank = 8*tile + 16 + 8 // a ranker's columns, order and ranks
		return 8*int64(d) + perRank*int64(dense.Cores())
	case s.LedoitWolf:
		return 8 * int64(d)
	}
	return 0
}

// IncompleteMemory is what EstimateIncomplete takes at a time for so many samples of d
// variables, in bytes, S among it and without the samples, by Pairwise or EM.
func IncompleteMemory(d, samples int) int64 {
	// Of the nearest correlation matrix: the numbers of common samples, S before and after,
	// an eigendecomposition with its workspace, and what the Hessian is multiplied by. EM
	// takes less, for its graphical lasso and the moments.
	const matrices, tables = 10, 2 // of what is there, and of squares
	return 8 * int64(d) * (matrices*int64(d) + tables*int64(samples))
}

// MatrixMemory is what FromMatrix takes at a time for d variables, in bytes, the
// values and S among it.
func MatrixMemory(d int) int64 {
	// The values, S, the correlation, what is lifted and its factor; for a matrix
	// that is not definite the eigendecomposition.
	return (5 + 4) * 8 * int64(d) * int64(d)
}

// ranked says that S is of ranks or scores.
func (s Settings) ranked() bool {
	return s.Method == Spearman || s.Method == Nonparanormal || s.Method == NormalScores
}

// ColumnsMemory is what EstimateColumns takes at a time, in bytes: once, and for every sample
// until the last has come, of which half and a bit stays.
func ColumnsMemory(d int, s Settings) (once, perSample int64) {
	const blocks = 2 // one as it comes, and one that is kept and not full
	ranks := max(0, SampleMemory(d, s)-8*int64(d))
	return 8 * blocks * blockRows * int64(d), 2*8*int64(d) + ranks
}

// ScreenMemory is what Columns.Screen takes of d variables on so many threads, in bytes:
// blocks of products and, where all their entries are above the threshold, what holds these.
func ScreenMemory(d, threads int) int64 {
	const square, entry = blockVariables * blockVariables, 16
	return int64(threads)*8*square + 2*entry*min(scanned*square, int64(d)*int64(d)/2)
}
