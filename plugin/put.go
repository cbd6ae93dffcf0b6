package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// put streams samples to a new run. The end of ctx ends the call, and with it the run,
// while samples are sent. When all have been sent the service may start the run and end
// the call at any time: from then on ctx ends the run by its name.
func (c *Client) put(ctx context.Context, j job.Job, samples array.RecordReader) (protocol.Run, error) {
	to, err := stream(j)
	if err != nil {
		return protocol.Run{}, err
	}
	if ctx.Err() != nil {
		return protocol.Run{}, c.endedCall(ctx)
	}
	call, cancel, err := c.beginCause(context.WithoutCancel(ctx))
	if err != nil {
		return protocol.Run{}, err
	}
	unbind := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	end := func() {
		unbind()
		cancel(nil)
	}
	stream, err := c.flights.DoPut(call)
	if err != nil {
		defer end()
		return protocol.Run{}, c.explain(call, err)
	}
	if !c.enter() {
		end()
		return protocol.Run{}, context.Cause(c.alive)
	}
	named, answered := make(chan protocol.Run, 1), make(chan error, 1)
	go func() {
		defer c.work.Done()
		answered <- readRun(stream, named)
	}()
	sent := c.send(call, &upload{stream: &unbinding{stream, ctx, unbind}}, to, samples, cancel)
	var received error
	select {
	case received = <-answered:
		defer end()
		if ended := context.Cause(ctx); ended != nil && context.Cause(call) == ended && status.Code(received) == codes.Canceled {
			received = status.FromContextError(ctx.Err()).Err() // a deadline, maybe
		}
	case <-endOf(ctx, sent):
		c.abandonPut(ctx, end, named, answered)
		return protocol.Run{}, c.endedCall(ctx)
	}
	err = c.outcome(call, received, sent)
	var id protocol.Run
	select {
	case id = <-named:
	default:
	}
	switch {
	case err != nil && id.Run != "" && ctx.Err() != nil && c.enter():
		go func() {
			defer c.work.Done()
			c.abandon(ctx, id)
		}()
	case err == nil && id.Run == "":
		err = errors.New("plugin: the service has started no run; update the older of plugin and host")
	}
	return id, err
}

// An unbinding is the stream of a call that the end of ctx ends until unbind is called,
// which is before the service is told that it has all samples.
type unbinding struct {
	flight.FlightService_DoPutClient
	ctx    context.Context
	unbind func() bool
}

// CloseSend implements grpc.ClientStream.
func (u *unbinding) CloseSend() error {
	if !u.unbind() {
		return context.Cause(u.ctx)
	}
	return u.FlightService_DoPutClient.CloseSend()
}

// endOf is the end of ctx, for a call in which all samples have been sent. Others end
// with it.
func endOf(ctx context.Context, sent error) <-chan struct{} {
	if sent != nil {
		return nil
	}
	return ctx.Done()
}

// endedCall is the error of a call whose context, the caller's, has ended.
func (c *Client) endedCall(ctx context.Context) error {
	return c.explain(ctx, status.FromContextError(ctx.Err()).Err())
}

// abandonPut ends a call in which all samples have been sent, and cancels its run, in
// the background: first the run must have its name.
func (c *Client) abandonPut(ctx context.Context, end func(), named <-chan protocol.Run, answered <-chan error) {
	if !c.enter() {
		end()
		return
	}
	go func() {
		defer c.work.Done()
		var id protocol.Run
		select {
		case id = <-named:
		case <-answered: // in which case it has been named, or never will be
			select {
			case id = <-named:
			default:
			}
		case <-time.After(cancelTimeout):
		}
		end()
		if id.Run != "" {
			c.abandon(ctx, id)
		}
	}()
}

// readRun reads the answers of DoPut to their end, of which one names the run.
func readRun(stream flight.FlightService_DoPutClient, named chan<- protocol.Run) error {
	var id protocol.Run
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
			if _ = json.Unmarshal(b, &id); id.Run != "" {
				named <- id
			}
		}
	}
}
