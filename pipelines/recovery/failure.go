package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A DocumentError is the error of a run whose run.json could not be written. One
// that is in the folder is of an earlier run.
type DocumentError struct{ Err error }

// Error is the sentence of the cause, with what that means for the folder.
func (e *DocumentError) Error() string {
	return e.Err.Error() + "; a " + job.RunFile + " that is there is of an earlier run"
}

// Unwrap returns the cause.
func (e *DocumentError) Unwrap() error { return e.Err }

// A refusal is the error of Host.Solved. No other solver is run after it.
type refusal struct{ error }

func (e refusal) Unwrap() error { return e.error }

// besides is the error of what has failed with one error and then with another;
// either may be nil.
func besides(first, second error) error {
	switch {
	case second == nil:
		return first
	case first == nil:
		return second
	}
	return fmt.Errorf("%w; besides, %w", first, second)
}

// unwritten is the error of a run that has ended with err and could then not write a
// file. One that was interrupted has failed by that: what had finished is not kept,
// and the error does not wrap that of the context.
func unwritten(ctx context.Context, err, writing error) error {
	if writing != nil && interrupted(ctx, err) {
		return fmt.Errorf("%w; besides, the run was interrupted", writing)
	}
	return besides(err, writing)
}

// withPanics is err, with an earlier failure if that has panics: their stacks must get
// into the log.
func withPanics(err, failure error) error {
	if job.Stack(failure) == nil {
		return err
	}
	return besides(err, failure)
}

// interrupted says whether a run has ended with an error because its context has.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// fail notes in the document why the run has failed, if it has.
func (r *run) fail(ctx context.Context, err error) {
	switch {
	case err == nil:
	case interrupted(ctx, err):
		r.result.Partial, r.result.Error = true, "the run was interrupted"
	default:
		r.result.Partial, r.result.Error = true, job.ErrorText(err, job.FieldOption)
	}
}
