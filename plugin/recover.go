package plugin

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Recover starts a run. With samples, which it reads to their end, it returns
// when the service has read them and found no fault; with nil, when the job,
// whose Input names a file or URL that the service can read, was accepted. The
// solvers are at work then.
//
// As with exec.CommandContext, ctx governs the run and not only the call: when
// it ends, the run is cancelled. The end of the run, seen by Result or
// Progress, and Forget detach the two.
func (c *Client) Recover(ctx context.Context, j job.Job, samples array.RecordReader) (*Run, error) {
	var id protocol.Run
	var err error
	if samples == nil {
		id, err = c.start(ctx, j)
	} else {
		id, err = c.put(ctx, j, samples)
	}
	if err != nil {
		return nil, err
	}
	return newRun(ctx, c, id), nil
}

// start has the service start a run of a job that names its table. When ctx ends before
// the answer has come, the service may have started the run all the same: it is
// cancelled as soon as its name is known.
func (c *Client) start(ctx context.Context, j job.Job) (protocol.Run, error) {
	if ctx.Err() != nil || !c.enter() {
		return answer[protocol.Run](ctx, c, protocol.ActionRecover, j) // says why not
	}
	type outcome struct {
		id  protocol.Run
		err error
	}
	started, gone := make(chan outcome), make(chan struct{})
	call, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer c.work.Done()
		defer end()
		id, err := answer[protocol.Run](call, c, protocol.ActionRecover, j)
		select {
		case started <- outcome{id, err}:
		case <-gone:
			if err == nil {
				c.abandon(ctx, id)
			}
		}
	}()
	select {
	case o := <-started:
		return o.id, o.err
	case <-ctx.Done():
		close(gone)
		time.AfterFunc(cancelTimeout, end)
		return protocol.Run{}, c.explain(ctx, status.FromContextError(ctx.Err()).Err())
	}
}

// abandon cancels a run whose context has ended before the caller had it.
func (c *Client) abandon(ctx context.Context, id protocol.Run) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	// As in newRun, the error has nobody to go to.
	_ = (&Run{client: c, id: id}).Cancel(ctx)
}
