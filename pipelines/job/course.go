package job

// A CourseResult is how a solver came to where it stopped: some of its iterations, evenly,
// with the first and the last, at most 201. Where several connected components are solved it
// is that of the largest.
type CourseResult struct {
	// Iteration counts from 1. The other lists are as long, or empty where the solver has
	// none of it.
	Iteration []int `json:"iteration"`
	// Objective and Gap are the objective and its duality gap, null where an iteration has
	// not evaluated them, and Target is the gap at which the solver stops.
	Objective []Float `json:"objective,omitempty"`
	Gap       []Float `json:"gap,omitempty"`
	Target    float64 `json:"target,omitempty"`
	// Distance is ‖Z − Θ‖_F of GLAD, which has no objective.
	Distance []Float `json:"distance,omitempty"`
}

// A CurvesResult is the curves of a solver on the population of the reference, by its scores of
// every pair: at most 200 points each, those without which the curve would not look the same.
type CurvesResult struct {
	// FPR and TPR are the ROC curve.
	FPR []float64 `json:"fpr"`
	TPR []float64 `json:"tpr"`
	// Recall and Precision are the precision-recall curve.
	Recall    []float64 `json:"recall"`
	Precision []float64 `json:"precision"`
}
