package selection

// FoldsOf and SubsampleOf are what samples are divided into.
var (
	FoldsOf     = func(m, folds int, seed uint64) (train, held [][]int) { return Settings{Seed: seed}.folds(m, folds) }
	SubsampleOf = func(m, k int, seed uint64) []int { return Settings{Seed: seed}.subsample(m, k) }
)
