package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// fields are those of a job's document.
type fields map[string]any

// quick is a job of milliseconds.
func quick() fields { return fields{"solvers": []string{"bcd"}, "penalty": 0.2} }

// endless is a job that no classical solver comes to an end with, given
// samples enough.
func endless(solver string) fields {
	return fields{"solvers": []string{solver}, "penalty": 0.01, "gap": 1e-300, "iteration_limit": 1_000_000_000, "time_limit": "2m"}
}

// with is the job with one more field.
func (j fields) with(key string, value any) fields {
	more := fields{key: value}
	for k, v := range j {
		if k != key {
			more[k] = v
		}
	}
	return more
}

func (j fields) command() *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: text(j)}
}

// text is v as JSON, or v itself if it is text already.
func text(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []byte(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a case's mistake
	}
	return b
}

// act does an action and returns its results.
func (s *service) act(ctx context.Context, name string, body any) ([][]byte, error) {
	stream, err := s.flights.DoAction(ctx, &flight.Action{Type: name, Body: text(body)})
	if err != nil {
		return nil, err
	}
	var results [][]byte
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return results, nil
		}
		if err != nil {
			return results, err
		}
		results = append(results, r.GetBody())
	}
}

// answer does an action that has one result and reads it into a T.
func answer[T any](ctx context.Context, s *service, name string, body any) (T, error) {
	var v T
	results, err := s.act(ctx, name, body)
	if err != nil {
		return v, err
	}
	if len(results) != 1 {
		return v, fmt.Errorf("the action %s must have one result, and has %d", name, len(results))
	}
	if err := json.Unmarshal(results[0], &v); err != nil {
		return v, fmt.Errorf("the result of the action %s must be JSON: %w: %.200q", name, err, results[0])
	}
	return v, nil
}

// A writer is the sending side of DoPut and DoExchange.
type writer interface {
	Send(*flight.FlightData) error
	CloseSend() error
}

// schemaOnly is a table of which the schema is sent and nothing else.
type schemaOnly struct{ arrow.Record }

// write sends batches and closes the sending side.
func write(to writer, d *flight.FlightDescriptor, batches ...arrow.Record) error {
	w := flight.NewRecordWriter(to, ipc.WithSchema(batches[0].Schema()))
	w.SetFlightDescriptor(d)
	for _, b := range batches {
		if _, nothing := b.(schemaOnly); nothing {
			continue
		}
		if err := w.Write(b); err != nil {
			w.Close()
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return to.CloseSend()
}

// put starts a run. An error may come with the run, if that was accepted.
func (s *service) put(ctx context.Context, d *flight.FlightDescriptor, batches ...arrow.Record) (protocol.Run, error) {
	var r protocol.Run
	stream, err := s.flights.DoPut(ctx)
	if err != nil {
		return r, err
	}
	sent := make(chan error, 1)
	go func() { sent <- write(stream, d, batches...) }()
	for {
		result, err := stream.Recv()
		if err == io.EOF {
			if err := <-sent; err != nil {
				return r, fmt.Errorf("DoPut has ended well before it had taken all samples: %w", err)
			}
			if r.Run == "" {
				return r, errors.New(`DoPut must answer with a PutResult whose app_metadata is {"run": …}, and has ended without`)
			}
			return r, nil
		}
		if err != nil {
			<-sent
			return r, err
		}
		if r.Run == "" {
			if err := json.Unmarshal(result.GetAppMetadata(), &r); err != nil || r.Run == "" {
				return r, fmt.Errorf(`the app_metadata of the first PutResult must be {"run": …}, and is %.200q`, result.GetAppMetadata())
			}
		}
	}
}

// get reads a table.
func (s *service) get(ctx context.Context, t protocol.Ticket) ([]arrow.Record, error) {
	stream, err := s.flights.DoGet(ctx, &flight.Ticket{Ticket: text(t)})
	if err != nil {
		return nil, err
	}
	return readAll(stream)
}

// exchange sends samples and reads the answer at the same time.
func (s *service) exchange(ctx context.Context, d *flight.FlightDescriptor, batches ...arrow.Record) ([]arrow.Record, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.flights.DoExchange(ctx)
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	go func() { sent <- write(stream, d, batches...) }()
	records, err := readAll(stream)
	if err == nil {
		return records, <-sent
	}
	cancel()
	<-sent
	return records, err
}

// readAll reads a stream to its end. Of a table without rows there is one
// record without rows, for its schema.
func readAll(from flight.DataStreamReader) ([]arrow.Record, error) {
	r, err := flight.NewRecordReader(from)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var records []arrow.Record
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	if err := r.Err(); err != nil && err != io.EOF {
		return records, err
	}
	if len(records) == 0 {
		records = append(records, emptyRecord(r.Schema()))
	}
	return records, nil
}

// runs are the runs that are listed.
func (s *service) runs(ctx context.Context) ([]protocol.RunInfo, error) {
	stream, err := s.flights.ListFlights(ctx, &flight.Criteria{})
	if err != nil {
		return nil, err
	}
	var runs []protocol.RunInfo
	for {
		info, err := stream.Recv()
		if err == io.EOF {
			return runs, nil
		}
		if err != nil {
			return runs, err
		}
		var run protocol.RunInfo
		if err := json.Unmarshal(info.GetAppMetadata(), &run); err != nil || run.Run == "" {
			return runs, fmt.Errorf("the app_metadata of a FlightInfo must describe its run, and is %.200q", info.GetAppMetadata())
		}
		if !slices.ContainsFunc(runs, func(r protocol.RunInfo) bool { return r.Run == run.Run }) {
			runs = append(runs, run)
		}
	}
}

// atWork are those of the listed runs that have not ended.
func (s *service) atWork(ctx context.Context) ([]protocol.RunInfo, error) {
	runs, err := s.runs(ctx)
	return slices.DeleteFunc(runs, func(r protocol.RunInfo) bool { return r.State.Ended() }), err
}

// ended is the error of a stream that was read to its end; nil for success.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// runOf is the run that a PutResult names.
func runOf(t testing.TB, r *flight.PutResult) string {
	t.Helper()
	var run protocol.Run
	if err := json.Unmarshal(r.GetAppMetadata(), &run); err != nil || run.Run == "" {
		t.Fatalf(`the app_metadata of the first PutResult must be {"run": …}, and is %.200q`, r.GetAppMetadata())
	}
	return run.Run
}
