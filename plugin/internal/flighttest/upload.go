package flighttest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow/flight"
)

// Recorded keeps what a writer of Flight sends.
type Recorded []*flight.FlightData

// Send implements flight.DataStreamWriter.
func (r *Recorded) Send(d *flight.FlightData) error {
	*r = append(*r, &flight.FlightData{FlightDescriptor: d.FlightDescriptor, DataHeader: bytes.Clone(d.DataHeader), DataBody: bytes.Clone(d.DataBody)})
	return nil
}

// Upload puts messages and returns the status of the call; nil for OK.
func Upload(ctx context.Context, c flight.Client, messages Recorded) error {
	stream, err := c.DoPut(ctx)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if stream.Send(m) != nil {
			break // the status says why
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
