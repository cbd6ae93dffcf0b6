package pipelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/covariance"
)

// A JobError says which field of a Job, or which file that a field names,
// cannot be used. It is the user who can put it right, so commands exit with
// code 2. It is always found before a solver starts.
type JobError struct {
	// Field is the key in the document, such as id_column.
	Field string
	// File and Line say where the field stands in a job document; empty and 0
	// where it does not come from one.
	File string
	Line int
	// Reason is one sentence that says what is wrong and what to do.
	Reason string
	// Err is the cause, if it was an error that is a sentence itself.
	Err error
}

// Error is "FILE: line N: FIELD: REASON" without the parts that
// there are not, or the cause's own sentence. Options are named as in a document.
func (e *JobError) Error() string { return e.Text(FieldOption) }

// Text is Error with options as the caller calls them, see ErrorText.
func (e *JobError) Text(option func(name, value string) string) string {
	if e.Reason == "" && e.Err != nil {
		return ErrorText(e.Err, option)
	}
	text := ""
	if e.File != "" {
		text += e.File + ": "
	}
	if e.Line > 0 {
		text += fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Field != "" {
		text += e.Field + ": "
	}
	return text + reworded(e.Reason, e.Err, option)
}

// Unwrap returns the cause.
func (e *JobError) Unwrap() error { return e.Err }

// A SolverError says which solver failed or was interrupted, and how far it had
// come.
type SolverError struct {
	Solver string
	// Iteration is the last that the solver told of; 0 if none.
	Iteration int
	// Stack is that of the panic where Err is one: a defect of ours. It names
	// the function at fault.
	Stack []byte
	Err   error
}

// Error is "solver NAME failed at iteration N: CAUSE", or "was
// interrupted".
func (e *SolverError) Error() string {
	what, at := "failed", ""
	if errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded) {
		what = "was interrupted"
	}
	if e.Iteration > 0 {
		at = fmt.Sprintf(" at iteration %d", e.Iteration)
	}
	return fmt.Sprintf("solver %s %s%s: %v", e.Solver, what, at, e.Err)
}

// Unwrap returns the cause.
func (e *SolverError) Unwrap() error { return e.Err }

// wrong is a JobError of a field.
func wrong(field, format string, args ...any) *JobError {
	return &JobError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// blame makes err a JobError of the field whose file or value it is about, if
// it is the user who can put it right. Failures of the machine and the end of
// a context stay what they are.
func blame(field string, err error) error {
	var job *JobError
	if err == nil || errors.As(err, &job) {
		return err
	}
	var input *arrowio.InputError
	var column *covariance.ColumnError
	if errors.As(err, &input) || errors.As(err, &column) {
		return &JobError{Field: field, Err: err}
	}
	for _, known := range []error{
		covariance.ErrTooFewSamples,
		metric.ErrNoKnownPair, metric.ErrNoPositive, metric.ErrNoNegative, metric.ErrNoneListed,
	} {
		if errors.Is(err, known) {
			return &JobError{Field: field, Err: err}
		}
	}
	return err
}
