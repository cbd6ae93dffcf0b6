package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A fake is a Flight service whose calls the tests write.
type fake struct {
	flight.BaseFlightServer
	put      func(flight.FlightService_DoPutServer) error
	get      func(*flight.Ticket, flight.FlightService_DoGetServer) error
	exchange func(flight.FlightService_DoExchangeServer) error
	action   func(*flight.Action, flight.FlightService_DoActionServer) error
	list     func(*flight.Criteria, flight.FlightService_ListFlightsServer) error
}

func (f *fake) DoPut(s flight.FlightService_DoPutServer) error {
	if f.put == nil {
		return f.BaseFlightServer.DoPut(s)
	}
	return f.put(s)
}

func (f *fake) DoExchange(s flight.FlightService_DoExchangeServer) error {
	if f.exchange == nil {
		return f.BaseFlightServer.DoExchange(s)
	}
	return f.exchange(s)
}

func (f *fake) DoGet(t *flight.Ticket, s flight.FlightService_DoGetServer) error {
	if f.get == nil {
		return f.BaseFlightServer.DoGet(t, s)
	}
	return f.get(t, s)
}

// DoAction is asked to cancel the runs of tests that have ended.
func (f *fake) DoAction(a *flight.Action, s flight.FlightService_DoActionServer) error {
	if f.action == nil {
		return f.BaseFlightServer.DoAction(a, s)
	}
	return f.action(a, s)
}

func (f *fake) ListFlights(c *flight.Criteria, s flight.FlightService_ListFlightsServer) error {
	if f.list == nil {
		return f.BaseFlightServer.ListFlights(c, s)
	}
	return f.list(c, s)
}

func (f *fake) ListActions(_ *flight.Empty, s flight.FlightService_ListActionsServer) error {
	return s.Send(&flight.ActionType{Type: protocol.ActionDescribe})
}

// listen serves register on loopback until the test ends.
func listen(t testing.TB, register func(*grpc.Server), options ...grpc.ServerOption) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(append([]grpc.ServerOption{grpc.MaxRecvMsgSize(64 << 20), grpc.WaitForHandlers(true)}, options...)...)
	register(s)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
	return l.Addr().String()
}

// attach is a client of f whose memory is checked.
func attach(t testing.TB, f *fake, options ...grpc.ServerOption) *Client {
	t.Helper()
	address := listen(t, func(s *grpc.Server) { flight.RegisterFlightServiceServer(s, f) }, options...)
	c, err := Attach(context.Background(), AttachConfig{Address: address, Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	checked(t, c)
	return c
}

// checked has everything that c allocates checked.
func checked(t testing.TB, c *Client) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	c.mem = mem
	t.Cleanup(func() { mem.AssertSize(t, 0) })
}

// reply sends a result as JSON.
func reply(s flight.FlightService_DoActionServer, result any) error {
	body, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return s.Send(&flight.Result{Body: body})
}

// A source is a reader of samples of which the tests know when it is touched,
// and whose memory is checked.
type source struct {
	array.RecordReader
	mem   *memory.CheckedAllocator
	left  int // batches; negative: endless
	err   error
	wait  <-chan struct{} // before the error
	batch arrow.Record
	calls atomic.Int64
}

// samples is a source of batches of 1000 samples of 8 variables.
func samples(t testing.TB, batches int, err error) *source {
	t.Helper()
	s := &source{mem: memory.NewCheckedAllocator(memory.NewGoAllocator()), left: batches, err: err}
	s.batch = wide(s.mem, 1000, 8)
	t.Cleanup(func() {
		s.batch.Release()
		s.mem.AssertSize(t, 0)
	})
	return s
}

func (s *source) Schema() *arrow.Schema { return s.batch.Schema() }
func (s *source) Record() arrow.Record  { return s.batch }
func (s *source) Err() error            { return s.err }

func (s *source) Next() bool {
	s.calls.Add(1)
	if s.left == 0 {
		if s.wait != nil {
			<-s.wait
		}
		return false
	}
	s.left--
	return true
}

// untouched fails if the source is read from now on.
func (s *source) untouched(t testing.TB) {
	t.Helper()
	before := s.calls.Load()
	time.Sleep(30 * time.Millisecond)
	if after := s.calls.Load(); after != before {
		t.Errorf("the samples were read %d times after the end of the call", after-before)
	}
}

// rowsOf is a record of one FixedSizeList column.
func rowsOf(mem memory.Allocator, rows, size int) arrow.Record {
	t := arrow.FixedSizeListOf(int32(size), arrow.PrimitiveTypes.Float64)
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{{Name: "sample", Type: t, Nullable: true}}, nil))
	defer b.Release()
	list := b.Field(0).(*array.FixedSizeListBuilder)
	values := list.ValueBuilder().(*array.Float64Builder)
	for i := range rows {
		list.Append(true)
		for j := range size {
			values.Append(float64(i) + float64(j)/1e4)
		}
	}
	return b.NewRecord()
}

// wide is a record of plain columns v0, v1, ...
func wide(mem memory.Allocator, rows, columns int) arrow.Record {
	fields := make([]arrow.Field, columns)
	for j := range fields {
		fields[j] = arrow.Field{Name: "v" + string(rune('a'+j%26)) + string(rune('a'+j/26%26)) + string(rune('a'+j/676)), Type: arrow.PrimitiveTypes.Float64}
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	for j := range fields {
		column := b.Field(j).(*array.Float64Builder)
		column.Reserve(rows)
		for i := range rows {
			column.UnsafeAppend(float64((i*7+j*13)%101) - 50)
		}
	}
	return b.NewRecord()
}

// drain reads a table to its end.
func drain(r array.RecordReader) (rows int64, err error) {
	defer r.Release()
	for r.Next() {
		rows += r.Record().NumRows()
	}
	return rows, r.Err()
}

// receive reads messages until there are n, or the client's side has ended.
func receive(s interface {
	Recv() (*flight.FlightData, error)
}, n int) error {
	for range n {
		if _, err := s.Recv(); err != nil {
			return err
		}
	}
	return nil
}

var errSource = errors.New("the tape has torn")

// ended fails unless done is closed soon.
func ended(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Errorf("%s has not ended", what)
	}
}
