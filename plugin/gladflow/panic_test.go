package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// The value and the stack of a solver's panic stand on standard error, below the
// sentence that asks for them.
func TestStackOfASolver(t *testing.T) {
	err := &job.SolverError{Solver: "am", Stack: []byte("oops\n\ngoroutine 1 [running]:"), Err: errors.New("it panicked")}
	var stderr strings.Builder
	if code := report(t.Context(), fmt.Errorf("of a run: %w", err), &stderr); code != exitFailed {
		t.Errorf("code %d", code)
	}
	if want := "gladflow: of a run: solver am failed: it panicked\n\noops\n\ngoroutine 1 [running]:\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr.String(), want)
	}
	// Also of a run that was interrupted after the panic.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stderr.Reset()
	if code := report(ctx, fmt.Errorf("%w; besides, %w", ctx.Err(), err), &stderr); code != exitInterrupted || !strings.HasSuffix(stderr.String(), "is kept\n\noops\n\ngoroutine 1 [running]:\n") {
		t.Errorf("code %d, %q", code, stderr.String())
	}
}
