package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
)

// An upload is a stream that samples are written to. It keeps the error that
// writing to it has ended with, to tell it from one of the samples.
type upload struct {
	stream interface {
		flight.DataStreamWriter
		CloseSend() error
	}
	failure error
}

// Send implements flight.DataStreamWriter.
func (u *upload) Send(data *flight.FlightData) error {
	u.failure = u.stream.Send(data)
	return u.failure
}

// A samplesError is a failure of the samples and not of the call.
type samplesError struct{ err error }

func (e *samplesError) Error() string { return "plugin: reading the samples: " + e.err.Error() }
func (e *samplesError) Unwrap() error { return e.err }

// errEarly is the error of a service that ends a call with success before it
// has taken all samples.
var errEarly = errors.New("plugin: the service has ended the call before it had read all samples; update the older of plugin and host")

// send writes samples to a stream and closes its side of it. If they fail it
// cancels the call, so that nothing is recovered from half a table. See outcome
// for its error.
func (c *Client) send(ctx context.Context, to *upload, d *flight.FlightDescriptor, samples array.RecordReader, cancel context.CancelCauseFunc) error {
	w := flight.NewRecordWriter(to, ipc.WithSchema(samples.Schema()), ipc.WithAllocator(c.mem))
	w.SetFlightDescriptor(d)
	err := c.sendRecords(ctx, w, samples)
	failure := to.failure
	// It sends the schema of a table without batches, and frees dictionaries.
	if closing := w.Close(); err == nil {
		err, failure = closing, to.failure
	}
	switch {
	case err == nil:
		return to.stream.CloseSend()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case failure == io.EOF:
		return errEarly // or else: Recv says why
	case failure != nil:
		return failure
	}
	bad := &samplesError{err}
	cancel(bad)
	return bad
}

// outcome is the error of a call that samples were sent in: received is what
// Recv has ended with, nil for io.EOF, and sent what send has returned.
func (c *Client) outcome(ctx context.Context, received, sent error) error {
	// Cancelled by send; any other status has come before.
	if failure := new(samplesError); errors.As(sent, &failure) && (received == nil || status.Code(received) == codes.Canceled) {
		return failure
	}
	if received != nil {
		return c.explain(ctx, received)
	}
	return sent
}

func (c *Client) sendRecords(ctx context.Context, w *flight.Writer, samples array.RecordReader) error {
	for ctx.Err() == nil && samples.Next() {
		if err := c.sendRecord(w, samples.Record()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Readers over pipes report the end as an error.
	if err := samples.Err(); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// sendRecord writes a record in batches of about c.batchBytes, since neither
// Flight nor gRPC slices anything.
func (c *Client) sendRecord(w *flight.Writer, record arrow.Record) error {
	return batch.Split(record, int64(c.batchBytes), w.Write)
}

// stream is the job of a call that streams its samples.
func stream(j job.Job) (*flight.FlightDescriptor, error) {
	const streamed = job.Stdin
	if j.Input != "" && j.Input != streamed {
		return nil, fmt.Errorf("plugin: there are samples, and the job has the input %q; give one of the two", j.Input)
	}
	j.Input = streamed
	cmd, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("plugin: the job: %w", err)
	}
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd}, nil
}
