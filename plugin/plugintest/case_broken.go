package plugintest

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A caller that breaks off in the middle of its samples ends the run, and
// nothing else.
func truncated(t *testing.T, k *kit) {
	s := k.start(t)
	table := chain(10, 10, 200)
	k.promptly(t, "a DoPut that is broken off must have ended its run", func() time.Duration {
		u := s.begin(t, endless("bcd"), batches(table.lists(), 20)[:5])
		u.cancel()
		took := s.untilIdle(t, "the caller has broken off a DoPut")
		if state := s.state(soon(t), t, u.run); state != protocol.StateCancelled && state != "" {
			t.Errorf("the run of a DoPut that was broken off must be cancelled; it is %s", state)
		}
		return took
	})
	k.promptly(t, "a DoExchange that is broken off must have ended its run", func() time.Duration {
		ctx, cancel := context.WithCancel(soon(t))
		defer cancel()
		stream, err := s.flights.DoExchange(ctx)
		fatal(t, "DoExchange", err)
		partly(t, stream, quick().command(), batches(table.plain(), 20)[:5])
		s.only(t)
		cancel()
		return s.untilIdle(t, "the caller has broken off a DoExchange")
	})
	s.lives(t, "broken streams")
}

// An uploading is a DoPut that has been accepted and whose samples are still
// to come.
type uploading struct {
	run    protocol.Run
	stream flight.FlightService_DoPutClient
	cancel context.CancelFunc
}

// begin sends the first samples of a run and waits until it was accepted.
func (s *service) begin(t testing.TB, j fields, first []arrow.Record) uploading {
	t.Helper()
	ctx, cancel := context.WithCancel(soon(t))
	t.Cleanup(cancel)
	u := uploading{cancel: cancel}
	var err error
	u.stream, err = s.flights.DoPut(ctx)
	fatal(t, "DoPut", err)
	partly(t, u.stream, j.command(), first)
	result, err := u.stream.Recv()
	fatal(t, "the run must be named as soon as the job was accepted, before all samples are there; DoPut", err)
	u.run.Run = runOf(t, result)
	return u
}

// partly sends batches and leaves the stream open.
func partly(t testing.TB, to flight.DataStreamWriter, d *flight.FlightDescriptor, first []arrow.Record) {
	t.Helper()
	w := flight.NewRecordWriter(to, ipc.WithSchema(first[0].Schema()))
	w.SetFlightDescriptor(d)
	for _, b := range first {
		fatal(t, "sending samples", w.Write(b))
	}
}

// state is that of a run; empty if it is not listed.
func (s *service) state(ctx context.Context, t testing.TB, run protocol.Run) protocol.State {
	t.Helper()
	runs, err := s.runs(ctx)
	fatal(t, "ListFlights", err)
	for _, r := range runs {
		if r.Run == run.Run {
			return r.State
		}
	}
	return ""
}

// only waits for the one run at work, of an exchange.
func (s *service) only(t testing.TB) protocol.Run {
	t.Helper()
	var run protocol.Run
	eventually(t, 10*time.Second, "ListFlights must tell of the run of an exchange as soon as it was accepted", func() bool {
		runs, err := s.atWork(soon(t))
		fatal(t, "ListFlights", err)
		if len(runs) == 1 {
			run.Run = runs[0].Run
		}
		return len(runs) == 1
	})
	return run
}

// untilIdle waits until no run is at work any more, and returns how long that
// took.
func (s *service) untilIdle(t testing.TB, since string) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		runs, err := s.atWork(soon(t))
		fatal(t, "ListFlights", err)
		took := time.Since(began)
		if len(runs) == 0 {
			return took
		}
		if took > 5*time.Second {
			t.Fatalf("%v after %s its run must have ended; ListFlights tells of %+v", took, since, runs)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// idle fails unless no run is at work any more within a time.
func (s *service) idle(t testing.TB, limit time.Duration, since string) {
	t.Helper()
	if took := s.untilIdle(t, since); took > limit {
		t.Errorf("%v after %s its run must have ended; it took %v", limit, since, took)
	}
}

// Messages that are no Arrow are refused, whatever the bytes.
func corrupt(t *testing.T, k *kit) {
	s := k.start(t)
	good := recorded(t, chain(11, 6, 50))
	for name, damage := range map[string]func([]*flight.FlightData) []*flight.FlightData{
		"a batch whose body is cut": func(m []*flight.FlightData) []*flight.FlightData {
			m[1].DataBody = m[1].DataBody[:len(m[1].DataBody)/2]
			return m
		},
		"a batch without its body": func(m []*flight.FlightData) []*flight.FlightData {
			m[1].DataBody = nil
			return m
		},
		"a batch whose metadata are cut": func(m []*flight.FlightData) []*flight.FlightData {
			m[1].DataHeader = m[1].DataHeader[:len(m[1].DataHeader)/2]
			return m
		},
		"metadata that are noise": func(m []*flight.FlightData) []*flight.FlightData {
			for i := range m[1].DataHeader {
				m[1].DataHeader[i] = byte(151 * i)
			}
			return m
		},
		"a schema that is noise": func(m []*flight.FlightData) []*flight.FlightData {
			for i := range m[0].DataHeader {
				m[0].DataHeader[i] = byte(83 * i)
			}
			return m
		},
		"batches without a schema": func(m []*flight.FlightData) []*flight.FlightData {
			m[1].FlightDescriptor = m[0].FlightDescriptor
			return m[1:]
		},
		"two schemas": func(m []*flight.FlightData) []*flight.FlightData { return append(m[:1:1], m...) },
	} {
		err := s.putRaw(soon(t), damage(recorded(t, chain(11, 6, 50))))
		invalid(protocol.ReasonInvalidTable).check(t, "DoPut of "+name, err)
	}
	good[0].FlightDescriptor = nil
	invalid(protocol.ReasonInvalidCall).check(t, "DoPut without a descriptor", s.putRaw(soon(t), good))
	refusal{codes: []codes.Code{codes.InvalidArgument}}.check(t, "DoPut of a descriptor and nothing else",
		s.putRaw(soon(t), []*flight.FlightData{{FlightDescriptor: quick().command()}}))
	s.idle(t, k.endWithin, "corrupt streams")
	s.lives(t, "corrupt streams")
}

// A recorder keeps messages.
type recorder struct{ messages []*flight.FlightData }

// Send implements flight.DataStreamWriter. The message is the writer's, which
// uses it again.
func (r *recorder) Send(d *flight.FlightData) error {
	r.messages = append(r.messages, &flight.FlightData{
		FlightDescriptor: d.FlightDescriptor,
		DataHeader:       append([]byte(nil), d.DataHeader...),
		DataBody:         append([]byte(nil), d.DataBody...),
	})
	return nil
}

// recorded are the messages of a job and its table: a schema, then batches.
func recorded(t testing.TB, of table) []*flight.FlightData {
	t.Helper()
	var r recorder
	partly(t, &r, quick().command(), batches(of.plain(), 20))
	return r.messages
}

// putRaw sends messages by DoPut and returns its error.
func (s *service) putRaw(ctx context.Context, messages []*flight.FlightData) error {
	stream, err := s.flights.DoPut(ctx)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := stream.Send(m); err != nil {
			break // Recv says why
		}
	}
	// Its error is Recv's too.
	_ = stream.CloseSend()
	for {
		if _, err := stream.Recv(); err != nil {
			return ended(err)
		}
	}
}
