package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
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

// put streams samples to a new run.
func (c *Client) put(ctx context.Context, j job.Job, samples array.RecordReader) (protocol.Run, error) {
	to, err := stream(j)
	if err != nil {
		return protocol.Run{}, err
	}
	ctx, cancel, err := c.beginCause(ctx)
	if err != nil {
		return protocol.Run{}, err
	}
	defer cancel(nil)
	stream, err := c.flights.DoPut(ctx)
	if err != nil {
		return protocol.Run{}, c.explain(ctx, err)
	}
	if !c.enter() {
		return protocol.Run{}, context.Cause(c.alive)
	}
	var id protocol.Run
	answered := make(chan error, 1)
	go func() {
		defer c.work.Done()
		answered <- readRun(stream, &id)
	}()
	sent := c.send(ctx, &upload{stream: stream}, to, samples, cancel)
	err = c.outcome(ctx, <-answered, sent)
	if err != nil && id.Run != "" && ctx.Err() != nil && c.enter() {
		go func() {
			defer c.work.Done()
			c.abandon(ctx, id)
		}()
	}
	if err == nil && id.Run == "" {
		err = errors.New("plugin: the service has started no run; update the older of plugin and host")
	}
	return id, err
}

// readRun reads the answers of DoPut to their end, of which one names the run.
func readRun(stream flight.FlightService_DoPutClient, id *protocol.Run) error {
	for {
		answer, err := stream.Recv()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if b := answer.GetAppMetadata(); len(b) > 0 && id.Run == "" {
			// What is no Run belongs to a later version of the protocol.
			_ = json.Unmarshal(b, id)
		}
	}
}
