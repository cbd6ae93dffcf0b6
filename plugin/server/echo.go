package server

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// echo sends samples back as they were read, batch by batch: what a caller's
// encoding comes to, and what the way through the service costs.
func (s *Service) echo(stream flight.FlightService_DoExchangeServer, u *upload) error {
	if len(u.descriptor.Path) != 1 || u.descriptor.Path[0] != protocol.PathEcho {
		return fault.Call("the path %q is unknown; send a job as the command, or the path %s", u.descriptor.Path, protocol.PathEcho)
	}
	// One timer for both directions: a call that waits for either makes no
	// progress.
	return u.idle.await(func() error {
		err := s.echoSamples(timedSender{stream, u.idle}, stream, u)
		if f := fault.Of(stream.Context(), runs.AsInput(err)); f != nil {
			return f
		}
		return nil
	})
}

func (s *Service) echoSamples(to sender, stream flight.FlightService_DoExchangeServer, u *upload) error {
	limits := u.memory.Limits()
	records, err := u.records(stream.Context(), limits)
	if err != nil {
		return err
	}
	defer records.Release()
	samples, err := arrowio.OpenSamples(stream.Context(), streamed, arrowio.SampleOptions{Records: records, MostVariables: s.limits.Variables, Limits: limits})
	if err != nil {
		return err
	}
	defer samples.Close()
	schema := arrowio.SampleSchema(samples.Names())
	w := flight.NewRecordWriter(to, ipc.WithSchema(schema))
	defer w.Close()
	for {
		rows, n, err := samples.Next()
		if err == io.EOF {
			return w.Close()
		}
		if err != nil {
			return err
		}
		batch := arrowio.SampleRecord(schema, rows, n)
		err = w.Write(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}
