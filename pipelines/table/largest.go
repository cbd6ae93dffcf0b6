package table

import (
	"cmp"
	"slices"
	"strconv"
)

// largest are the n of the positions with the largest variances, in their order, and the
// smallest of these variances. Of equal ones the first stay.
func largest(positions []int, variances []float64, n int) ([]int, float64) {
	sorted := slices.Clone(positions)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(variances[b], variances[a]) })
	sorted = sorted[:n]
	least := variances[sorted[n-1]]
	slices.Sort(sorted)
	return sorted, least
}

func isNumber(name string) bool {
	_, err := strconv.ParseFloat(name, 64)
	return err == nil
}
