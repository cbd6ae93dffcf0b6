package job

import "fmt"

// A TestsResult says how every pair of variables was tested for a partial correlation, once
// for all solvers.
type TestsResult struct {
	// Method is "partial-correlation" or "desparsified", what auto stands for.
	Method string `json:"method"`
	// Samples is M as the tests count it, Pairs the number of pairs.
	Samples int `json:"samples"`
	Pairs   int `json:"pairs"`
	// Confidence is that of the intervals.
	Confidence Float `json:"confidence"`
	// Kept is the number of pairs with a q-value of at most FDR: the Q of Job.Edges, or
	// 0.1.
	FDR  Float `json:"fdr"`
	Kept int   `json:"kept"`
	// Penalty is that of the graphical lasso behind desparsified, Degree the largest number
	// of neighbours in it, and Crowding Degree·log d/√M, which the theory wants to be small;
	// 0 for partial-correlation.
	Penalty  float64 `json:"penalty,omitempty"`
	Degree   int     `json:"degree,omitempty"`
	Crowding float64 `json:"crowding,omitempty"`
	// Caveats are sentences on why p-values are approximate.
	Caveats []string `json:"caveats,omitempty"`
	Seconds Float    `json:"seconds"`
}

// String says it in a line.
func (t *TestsResult) String() string {
	name := "Student's t of partial correlations"
	if t.Method == PValuesLasso {
		name = fmt.Sprintf("the de-sparsified graphical lasso (penalty %.3g)", t.Penalty)
	}
	return fmt.Sprintf("%d of %d pairs are kept at a false discovery rate of %.3g by %s", t.Kept, t.Pairs, float64(t.FDR), name)
}
