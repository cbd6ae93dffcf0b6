package solver

// An Iteration is what a Recorder is told.
type Iteration struct {
	// Number counts from 1.
	Number int
	// Of is the number of iterations to come in all, 0 when unknown.
	Of int
	// Objective and Gap are the solver's own (see Estimate); NaN where the
	// iteration did not evaluate them.
	Objective, Gap float64
	// Target is the gap at which the solver stops, in the units of Gap.
	Target float64
	// Distance is ‖Z − Θ‖_F of a solver without an objective, in the units it works
	// in: how far its two iterates are apart. It is 0 for the others.
	Distance float64
}

// A Recorder is told of every iteration of a solver, from the goroutine that
// runs it: it must be quick, and safe for concurrent use when connected
// components are solved in parallel.
type Recorder interface {
	Record(Iteration)
}

// RecorderFunc makes a function a Recorder.
type RecorderFunc func(Iteration)

// Record calls f.
func (f RecorderFunc) Record(it Iteration) { f(it) }
