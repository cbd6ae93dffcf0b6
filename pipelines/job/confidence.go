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

// A StabilityResult says how a solver did on halves of the samples.
type StabilityResult struct {
	// Pairs is Job.Stability, Halves the number of halves that were solved, two for each
	// pair but where the time limit was reached.
	Pairs  int `json:"pairs"`
	Halves int `json:"halves"`
	// HalfSamples is the number of samples in a half, Seed what the halves were drawn by.
	HalfSamples int    `json:"half_samples"`
	Seed        uint64 `json:"seed"`
	// Selected is the mean number of pairs of variables that a half selects, Candidates how
	// many there are. Top is how many a half selects of a ranking, where no two tie.
	Selected   Float `json:"selected"`
	Candidates int   `json:"candidates"`
	Top        int   `json:"top,omitempty"`
	// Thresholds are of the pairs that 60 % to 100 % of the halves select.
	Thresholds []BoundResult `json:"thresholds,omitempty"`
	// Kept is of the pairs that Job.FalseEdges leaves; nil without it, and where it leaves
	// none.
	Kept *BoundResult `json:"kept,omitempty"`
	// TimeLimitReached says that the time limit was reached first.
	TimeLimitReached bool  `json:"time_limit_reached,omitempty"`
	Seconds          Float `json:"seconds"`
}

// A BoundResult is about the pairs of variables that at least a share of the halves select.
type BoundResult struct {
	// Probability is that share, Pairs their number, in the support of all samples or not.
	Probability Float `json:"probability"`
	Pairs       int   `json:"pairs"`
	// The others bound the expected number of false ones among them: see stability.Bound.
	WorstCase Float `json:"worst_case"`
	Unimodal  Float `json:"unimodal"`
	Concave   Float `json:"r_concave"`
}

// String says it in a line.
func (s *StabilityResult) String() string {
	if s.Halves == 0 {
		return "the time limit was reached before a pair of halves was solved"
	}
	text := fmt.Sprintf("%d halves of %d samples select %.4g of %d pairs in the mean", s.Halves, s.HalfSamples, float64(s.Selected), s.Candidates)
	if s.TimeLimitReached {
		text += fmt.Sprintf(", of %d asked for (time limit)", 2*s.Pairs)
	}
	if k := s.Kept; k != nil {
		return text + fmt.Sprintf("; kept are those that %.0f %% select, at most %.3g of them false in expectation", 100*float64(k.Probability), float64(k.Concave))
	}
	if n := len(s.Thresholds); n > 1 {
		k := s.Thresholds[n-2]
		text += fmt.Sprintf("; %.0f %% of them select %d, at most %.3g of these false in expectation", 100*float64(k.Probability), k.Pairs, float64(k.Concave))
	}
	return text
}
