package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// An Error says which field of a document, or which file that a field names,
// cannot be used. The user can put it right, so commands exit with code 2. It is
// found before a solver starts.
type Error struct {
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

// Errorf is the Error of a field.
func Errorf(field, format string, args ...any) *Error {
	return &Error{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// FileError is the Error of a field that names a file which cannot be opened.
func FileError(field, path string, err error) *Error {
	return &Error{Field: field, Reason: path + ": " + unreadable(err), Err: err}
}

// unreadable says why a file that the user named cannot be opened.
func unreadable(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file; check the path"
	case errors.Is(err, fs.ErrPermission):
		return "permission to read it is denied"
	}
	return fmt.Sprintf("it cannot be read: %v", Cause(err))
}

// Cause is what the system says of a file: without the path, which the reader knows,
// and the name of the call. Other errors stay what they are.
func Cause(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Error is "FILE: line N: FIELD: REASON" without the parts that are empty, or the
// cause's own sentence. Options are named as in a document.
func (e *Error) Error() string { return e.Text(FieldOption) }

// Text is Error with options as the caller calls them, see ErrorText.
func (e *Error) Text(option func(name, value string) string) string {
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
func (e *Error) Unwrap() error { return e.Err }

// A SolverError says which solver failed or was interrupted, and at which
// iteration.
type SolverError struct {
	Solver string
	// Iteration is the last that the solver reported; 0 if none.
	Iteration int
	// Stack is the value and the stack of the panic, if Err is one, as the runtime
	// prints them; nil otherwise. A panic is a defect of gladflow. It belongs into a
	// log: Error does not have it, nor is it told to callers or written into results.
	Stack []byte
	Err   error
}

// Error is "solver NAME failed at iteration N: CAUSE", or "was interrupted".
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

// Stack is the value and the stack of every panic of a solver in err; nil if there
// was none.
func Stack(err error) []byte {
	var stack []byte
	if s, ok := err.(*SolverError); ok {
		stack = s.Stack
	}
	var causes []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		causes = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		causes = e.Unwrap()
	}
	for _, cause := range causes {
		if below := Stack(cause); below != nil && stack != nil {
			stack = slices.Concat(stack, []byte("\n"), below)
		} else if below != nil {
			stack = below
		}
	}
	return stack
}

// Interrupted is the error of a run whose context has ended.
func Interrupted(ctx context.Context) error {
	return fmt.Errorf("the run was interrupted: %w", ctx.Err())
}

// InterruptedOr is Interrupted where the context has ended, and err otherwise.
func InterruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return Interrupted(ctx)
	}
	return err
}
