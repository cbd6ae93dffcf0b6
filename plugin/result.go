package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Result waits for the end of the run and returns what it did, the document
// run.json. The error is that of the run, a *protocol.Fault, if it has failed or was
// cancelled; the document is then there too, if the run came so far that it has one,
// with what the finished solvers have found. An error of the call itself comes
// without a document, unless it follows one.
func (r *Run) Result(ctx context.Context) (*job.Result, error) {
	bodies, failure := r.client.action(ctx, protocol.ActionResult, r.id)
	if failure != nil && len(bodies) == 0 {
		if protocol.FaultOf(failure).Run == r.id.Run { // the run's error, not the call's
			r.detach()
		}
		return nil, failure
	}
	result, err := only[job.Result](protocol.ActionResult, bodies)
	switch {
	case err != nil && failure != nil:
		return nil, fmt.Errorf("%w (%w)", failure, err)
	case err != nil:
		return nil, err
	}
	r.detach()
	if failure == nil && (result.Partial || namesOnly(result)) {
		failure = r.failure(ctx)
	}
	return &result, failure
}

// namesOnly says whether the document is of version 0.1.0, which did not know sizes
// and checksums of files. It is not partial there if run.json could not be written.
func namesOnly(result job.Result) bool {
	for _, s := range result.Solvers {
		for _, f := range s.Files {
			return f.SHA256 == ""
		}
	}
	return false
}

// failure is why a run has failed, from a service that does not end the action
// result with it: those of version 0.1.0.
func (r *Run) failure(ctx context.Context) error {
	criteria, err := json.Marshal(r.id)
	if err != nil {
		return fmt.Errorf("plugin: the run: %w", err)
	}
	runs, err := r.client.runs(ctx, criteria)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.Run == r.id.Run && run.Error != nil {
			return run.Error
		}
	}
	return nil
}
