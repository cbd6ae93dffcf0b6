package solver

import (
	"errors"
	"fmt"
)

// Status says why a solver stopped.
type Status int

const (
	// NotTerminated is the zero value: the solver has not stopped.
	NotTerminated Status = iota
	// Converged: the certificate is within the tolerance.
	Converged
	// Completed: a solver of a fixed number of steps (GLAD) has done them all.
	// There is no certificate to reach.
	Completed
	// IterationLimit: the largest number of iterations was reached first.
	IterationLimit
	// Interrupted: the context was cancelled or its deadline passed.
	Interrupted
	// Stalled: float64 allows no further progress before the tolerance is
	// reached, or the iterates would leave its range; the gap, if there is
	// one, says how close the estimate is.
	Stalled
	// Unbounded: the objective has no minimum (no penalty on a singular
	// covariance); the estimate is a regularised stand-in.
	Unbounded
)

var statusNames = [...]string{
	NotTerminated:  "not terminated",
	Converged:      "converged",
	Completed:      "completed",
	IterationLimit: "iteration limit",
	Interrupted:    "interrupted",
	Stalled:        "stalled",
	Unbounded:      "unbounded",
}

func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Errors that Status.Err returns; test for them with errors.Is.
var (
	ErrNotTerminated  = errors.New("not terminated")
	ErrIterationLimit = errors.New("iteration limit reached before the tolerance")
	ErrInterrupted    = errors.New("interrupted before the tolerance was reached")
	ErrStalled        = errors.New("no further progress in float64 before the tolerance was reached")
	ErrUnbounded      = errors.New("the objective is unbounded below; use a positive penalty")
)

// Err is nil for a solver that did all it set out to do, and otherwise one of
// the errors above. Either way the estimate can be read.
func (s Status) Err() error {
	switch s {
	case Converged, Completed:
		return nil
	case NotTerminated:
		return ErrNotTerminated
	case IterationLimit:
		return ErrIterationLimit
	case Interrupted:
		return ErrInterrupted
	case Stalled:
		return ErrStalled
	case Unbounded:
		return ErrUnbounded
	}
	return fmt.Errorf("unknown status %d", int(s))
}

// Worse is the less favourable of two statuses: the one to report for a
// problem whose parts ended with a and b.
func Worse(a, b Status) Status { return max(a, b) }
