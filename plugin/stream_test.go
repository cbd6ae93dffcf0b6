package plugin

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

var fault = &protocol.Fault{
	Code: codes.InvalidArgument.String(), Reason: protocol.ReasonInvalidTable,
	Message: "column g7 is constant; drop it", Column: "g7",
}

// wantFault fails unless err is fault, in both readings.
func wantFault(t *testing.T, err error) {
	t.Helper()
	var f *protocol.Fault
	if !errors.As(err, &f) || f.Column != "g7" || status.Code(err) != codes.InvalidArgument {
		t.Errorf("error %#v (%v), want the fault of column g7", err, err)
	}
}

// send sends a table of n batches.
func send(s flight.DataStreamWriter, batch arrow.Record, n int) error {
	w := flight.NewRecordWriter(s, ipc.WithSchema(batch.Schema()))
	defer w.Close()
	for i := 0; i != n; i++ {
		if err := w.Write(batch); err != nil {
			return err
		}
	}
	return nil
}

// The writer sees only io.EOF when a service ends a call early: the caller must
// see why.
func TestEarlyEnd(t *testing.T) {
	c := attach(t, &fake{
		put: func(s flight.FlightService_DoPutServer) error {
			receive(s, 3)
			return fault
		},
		exchange: func(s flight.FlightService_DoExchangeServer) error {
			receive(s, 3)
			return fault
		},
	})
	t.Run("Recover", func(t *testing.T) {
		in := samples(t, -1, nil)
		_, err := c.Recover(t.Context(), job.Job{}, in)
		wantFault(t, err)
		in.untouched(t)
	})
	t.Run("Exchange", func(t *testing.T) {
		in := samples(t, -1, nil)
		_, err := c.Exchange(t.Context(), job.Job{}, in)
		wantFault(t, err)
		in.untouched(t)
	})
}

// The same in the middle of an answer.
func TestFailureInAnswer(t *testing.T) {
	in := samples(t, -1, nil)
	c := attach(t, &fake{exchange: func(s flight.FlightService_DoExchangeServer) error {
		receive(s, 3)
		if err := send(s, in.batch, 2); err != nil {
			return err
		}
		return fault
	}})
	r, err := c.Echo(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := drain(r)
	if wantFault(t, err); rows != 2000 {
		t.Errorf("%d rows before the failure, want 2000", rows)
	}
	in.untouched(t)
}

// A service that ends with success although samples are left has not read the
// table that was meant.
func TestEarlySuccess(t *testing.T) {
	in := samples(t, -1, nil)
	c := attach(t, &fake{
		put: func(s flight.FlightService_DoPutServer) error {
			return s.Send(&flight.PutResult{AppMetadata: []byte(`{"run":"r1"}`)})
		},
		exchange: func(s flight.FlightService_DoExchangeServer) error { return send(s, in.batch, 1) },
	})
	if _, err := c.Recover(t.Context(), job.Job{}, in); !errors.Is(err, errEarly) {
		t.Errorf("Recover: error %v", err)
	}
	r, err := c.Echo(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(r); !errors.Is(err, errEarly) {
		t.Errorf("Echo: error %v", err)
	}
	in.untouched(t)
}

func TestNoRun(t *testing.T) {
	c := attach(t, &fake{put: func(s flight.FlightService_DoPutServer) error {
		for receive(s, 1) == nil {
		}
		return nil
	}})
	if _, err := c.Recover(t.Context(), job.Job{}, samples(t, 1, nil)); err == nil {
		t.Error("a call that names no run has made one")
	}
}

// An error of the samples is the caller's, and cancels the run: nothing is
// recovered from half a table.
func TestSamplesFail(t *testing.T) {
	cancelled := make(chan struct{}, 3)
	watch := func(ctx context.Context) {
		<-ctx.Done()
		cancelled <- struct{}{}
	}
	in := samples(t, 0, nil)
	c := attach(t, &fake{
		put: func(s flight.FlightService_DoPutServer) error {
			s.Send(&flight.PutResult{AppMetadata: []byte(`{"run":"r1"}`)})
			watch(s.Context())
			return s.Context().Err()
		},
		exchange: func(s flight.FlightService_DoExchangeServer) error {
			data, _ := s.Recv()
			if len(data.GetFlightDescriptor().GetPath()) > 0 { // Echo: answers first
				send(s, in.batch, 1)
			}
			watch(s.Context())
			return s.Context().Err()
		},
	})
	if _, err := c.Recover(t.Context(), job.Job{}, samples(t, 3, errSource)); !errors.Is(err, errSource) {
		t.Errorf("Recover: error %v", err)
	}
	<-cancelled
	if _, err := c.Exchange(t.Context(), job.Job{}, samples(t, 3, errSource)); !errors.Is(err, errSource) {
		t.Errorf("Exchange: error %v", err)
	}
	<-cancelled
	in, late := samples(t, 0, nil), make(chan struct{})
	failing := samples(t, 3, errSource)
	failing.wait = late
	r, err := c.Echo(t.Context(), failing)
	if err != nil {
		t.Fatal(err)
	}
	close(late)
	if _, err := drain(r); !errors.Is(err, errSource) {
		t.Errorf("Echo: error %v", err)
	}
	<-cancelled
}

// Records of another schema than the reader's are the samples' fault too.
func TestSamplesInconsistent(t *testing.T) {
	c := attach(t, &fake{put: func(s flight.FlightService_DoPutServer) error {
		for receive(s, 1) == nil {
		}
		return s.Context().Err()
	}})
	in := samples(t, 1, nil)
	other := wide(in.mem, 3, 2)
	defer other.Release()
	_, err := c.Recover(t.Context(), job.Job{}, &otherSchema{in, other.Schema()})
	if bad := new(samplesError); !errors.As(err, &bad) {
		t.Errorf("error %v, want one of the samples", err)
	}
}

type otherSchema struct {
	*source
	schema *arrow.Schema
}

func (o *otherSchema) Schema() *arrow.Schema { return o.schema }

// A reader that nobody reads holds up the service and the writer; its release
// ends both.
func TestReleaseUnread(t *testing.T) {
	over := make(chan struct{})
	in := samples(t, -1, nil)
	answer := samples(t, 0, nil)
	c := attach(t, &fake{exchange: func(s flight.FlightService_DoExchangeServer) error {
		defer close(over)
		return send(s, answer.batch, -1)
	}})
	r, err := c.Exchange(t.Context(), job.Job{}, in)
	if err != nil {
		t.Fatal(err)
	}
	r.Retain()
	r.Release()
	if !r.Next() {
		t.Fatalf("released once of twice, the reader has ended: %v", r.Err())
	}
	r.Release()
	in.untouched(t)
	ended(t, over, "the call")
}

func TestContextEnds(t *testing.T) {
	answer := samples(t, 0, nil)
	c := attach(t, &fake{
		exchange: func(s flight.FlightService_DoExchangeServer) error { return send(s, answer.batch, -1) },
		put: func(s flight.FlightService_DoPutServer) error {
			<-s.Context().Done()
			return s.Context().Err()
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	in := samples(t, -1, nil)
	r, err := c.Echo(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = drain(r)
	if !errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
		t.Errorf("Echo: error %v", err)
	}
	in.untouched(t)

	ctx, cancel = context.WithTimeout(t.Context(), 30e6)
	defer cancel()
	_, err = c.Recover(ctx, job.Job{}, in)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Recover: error %v", err)
	}
	in.untouched(t)
}

func TestCloseEndsCalls(t *testing.T) {
	answer := samples(t, 0, nil)
	c := attach(t, &fake{exchange: func(s flight.FlightService_DoExchangeServer) error { return send(s, answer.batch, -1) }})
	in := samples(t, -1, nil)
	r, err := c.Echo(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	in.untouched(t)
	if _, err := drain(r); !errors.Is(err, ErrClosed) {
		t.Errorf("the open reader: error %v", err)
	}
	c.Close()
	for name, err := range map[string]error{
		"Ping": c.Ping(t.Context()),
		"Describe": func() error {
			_, err := c.Describe(t.Context())
			return err
		}(),
		"Recover": func() error {
			_, err := c.Recover(t.Context(), job.Job{}, in)
			return err
		}(),
		"Echo": func() error {
			_, err := c.Echo(t.Context(), in)
			return err
		}(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: error %v", name, err)
		}
	}
}

// Lengths in a message are not to be trusted, and a message may hold nothing
// but metadata.
func TestMessages(t *testing.T) {
	answer := samples(t, 0, nil)
	var messages []*flight.FlightData
	if err := send(recorder{&messages}, answer.batch, 2); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(int, *flight.FlightData) []*flight.FlightData
		rows   int64
		input  bool
	}{
		"as they are": {func(_ int, d *flight.FlightData) []*flight.FlightData { return []*flight.FlightData{d} }, 2000, false},
		"with metadata alone": {func(i int, d *flight.FlightData) []*flight.FlightData {
			return []*flight.FlightData{{AppMetadata: []byte("1")}, d, {AppMetadata: []byte("2")}}
		}, 2000, false},
		"damaged": {func(i int, d *flight.FlightData) []*flight.FlightData {
			if i == 2 {
				header := append([]byte(nil), d.DataHeader...)
				for k := 8; k < len(header); k++ {
					header[k] = 0x7f
				}
				d = &flight.FlightData{DataHeader: header, DataBody: d.DataBody}
			}
			return []*flight.FlightData{d}
		}, 1000, true},
		"short": {func(i int, d *flight.FlightData) []*flight.FlightData {
			if i == 2 {
				d = &flight.FlightData{DataHeader: d.DataHeader, DataBody: d.DataBody[:9]}
			}
			return []*flight.FlightData{d}
		}, 1000, true},
		"none": {func(int, *flight.FlightData) []*flight.FlightData { return nil }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := attach(t, &fake{get: func(_ *flight.Ticket, s flight.FlightService_DoGetServer) error {
				for i, m := range messages {
					for _, m := range test.change(i, m) {
						if err := s.Send(m); err != nil {
							return err
						}
					}
				}
				return nil
			}})
			if test.input {
				// Arrow forgets the buffer at which it panics.
				c.mem = memory.DefaultAllocator
			}
			var rows int64
			r, err := newRun(t.Context(), c, protocol.Run{Run: "r1"}).Edges(t.Context(), "bcd")
			if err == nil {
				rows, err = drain(r)
			}
			var corrupt *batch.CorruptError
			if rows != test.rows || errors.As(err, &corrupt) != test.input || !test.input && err != nil {
				t.Errorf("%d rows, error %v", rows, err)
			}
		})
	}
}

// A recorder keeps messages.
type recorder struct{ messages *[]*flight.FlightData }

func (r recorder) Send(d *flight.FlightData) error {
	*r.messages = append(*r.messages, &flight.FlightData{
		DataHeader: append([]byte(nil), d.DataHeader...),
		DataBody:   append([]byte(nil), d.DataBody...),
	})
	return nil
}
