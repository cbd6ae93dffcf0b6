package plugintest

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// Callers that do not read what they have asked for keep nobody else waiting,
// are not given memory without end, and when they hang up their runs are gone.
func neverReads(t *testing.T, k *kit) {
	s := k.start(t)
	// The list of all pairs takes about 20 MB, more than any window.
	table := chain(18, 700, 60).lists()
	j := fields{"solvers": []string{"bcd"}, "penalty": 0.6, "edges": "all"}

	run, err := s.put(soon(t), j.command(), table)
	fatal(t, "DoPut", err)
	_, err = s.act(soon(t), protocol.ActionResult, run)
	fatal(t, "the action result", err)
	getting, hangUpGet := context.WithCancel(soon(t))
	defer hangUpGet()
	for range 4 {
		_, err = s.flights.DoGet(getting, &flight.Ticket{Ticket: text(protocol.Ticket{Run: run.Run})})
		fatal(t, "DoGet", err)
	}
	exchanging, hangUpExchange := context.WithCancel(soon(t))
	defer hangUpExchange()
	for range 4 {
		stream, err := s.flights.DoExchange(exchanging)
		fatal(t, "DoExchange", err)
		fatal(t, "sending samples", write(stream, j.command(), table))
	}
	echoing, hangUpEcho := context.WithCancel(soon(t))
	defer hangUpEcho()
	if sent := s.sendUnread(echoing, t); sent >= unreadMost {
		t.Errorf("a caller of echo that does not read must be held back; the service has taken %d MiB from it", sent>>20)
	}

	within(t, 30*time.Second, "a job beside callers that do not read", func() { s.lives(t, "callers that do not read") })
	records, err := s.get(soon(t), protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet of a table that others do not read", err)
	if n := len(edgesOf(t, records)); n != 700*699/2 {
		t.Errorf("the table of all pairs of 700 variables has %d rows", n)
	}
	for _, r := range records {
		if size := bytesOf(r); size > 8<<20 {
			t.Errorf("tables must be sent in batches of some megabytes; one has %d MB", size>>20)
			break
		}
	}

	hangUpGet()
	hangUpExchange()
	hangUpEcho()
	s.idle(t, k.endWithin, "callers that did not read have hung up")
	_, err = s.act(soon(t), protocol.ActionForget, run)
	fatal(t, "the action forget", err)
	s.lives(t, "callers that hung up")
}

// unreadMost is more than a connection and a service may hold.
const unreadMost = 512 << 20

// sendUnread sends to echo, without reading, until the service takes no more,
// and returns how many bytes it has taken.
func (s *service) sendUnread(ctx context.Context, t *testing.T) int {
	t.Helper()
	stream, err := s.flights.DoExchange(ctx)
	fatal(t, "DoExchange", err)
	batch := chain(19, 128, 1024).lists() // 1 MiB
	progress := make(chan int, unreadMost>>20)
	go func() {
		defer close(progress)
		w := flight.NewRecordWriter(stream, ipc.WithSchema(batch.Schema()))
		w.SetFlightDescriptor(echoPath())
		for range unreadMost >> 20 {
			if w.Write(batch) != nil {
				return // hung up
			}
			progress <- 1 << 20
		}
	}()
	sent := 0
	for {
		select {
		case n, ok := <-progress:
			if !ok {
				return sent
			}
			sent += n
		case <-time.After(time.Second):
			t.Logf("held back after %d MiB", sent>>20)
			return sent
		}
	}
}
