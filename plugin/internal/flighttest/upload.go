package flighttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Constant is a record of columns of zeros that share their memory.
func Constant(rows, columns int) arrow.Record {
	zeros := memory.NewBufferBytes(make([]byte, 8*rows))
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for j := range columns {
		fields[j] = arrow.Field{Name: "v" + strconv.Itoa(j), Type: arrow.PrimitiveTypes.Float64}
		arrays[j] = array.NewFloat64Data(array.NewData(fields[j].Type, rows, []*memory.Buffer{nil, zeros}, nil, 0, 0))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

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
