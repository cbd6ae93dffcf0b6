package plugin

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Exchange recovers a network with one solver, the job's or else glad, and
// returns its edges as Run.Edges does. The run lives as long as the call: until
// ctx ends, or the reader has ended or was released.
//
// Samples are read in the background. An error of theirs ends the run and is
// the reader's, or Exchange's if there is no answer yet: it returns when the
// service has begun to answer.
func (c *Client) Exchange(ctx context.Context, j job.Job, samples array.RecordReader) (array.RecordReader, error) {
	d, err := stream(j)
	if err != nil {
		return nil, err
	}
	return c.exchange(ctx, d, samples)
}

// Echo streams samples to the service and returns them as it reads them: one
// column "sample" of FixedSizeList<float64>, with the names of the variables as
// JSON in the field's metadata gladflow.names. It is to test tables and
// connections with. Samples are read in the background, as by Exchange.
func (c *Client) Echo(ctx context.Context, samples array.RecordReader) (array.RecordReader, error) {
	return c.exchange(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}}, samples)
}

func (c *Client) exchange(ctx context.Context, to *flight.FlightDescriptor, samples array.RecordReader) (array.RecordReader, error) {
	if samples == nil {
		return nil, errors.New("plugin: there are no samples to send; Recover takes jobs that name a file")
	}
	ctx, cancel, err := c.beginCause(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := c.flights.DoExchange(ctx)
	if err != nil {
		err = c.explain(ctx, err)
		cancel(nil)
		return nil, err
	}
	if !c.enter() {
		cancel(nil)
		return nil, context.Cause(c.alive)
	}
	sent := make(chan error, 1)
	go func() {
		defer c.work.Done()
		sent <- c.send(ctx, &upload{stream: stream}, to, samples, cancel)
	}()
	return (&download{client: c, ctx: ctx, cancel: cancel, stream: stream, sent: sent}).records()
}
