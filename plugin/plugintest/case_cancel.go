package plugintest

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// promptly fails unless work is stopped in time, which measure measures. It may
// try three times: machines have hiccups, but not always at the same place.
func (k *kit) promptly(t *testing.T, what string, measure func() time.Duration) {
	t.Helper()
	var took []time.Duration
	for range 3 {
		d := measure().Round(time.Millisecond)
		if took = append(took, d); d <= k.stopWithin {
			t.Logf("%s: %v", what, d)
			return
		}
	}
	t.Errorf("%s within %v; it took %v", what, k.stopWithin, took)
}

// A cancellation is a moment at which a run is cancelled.
type cancellation struct {
	name  string
	job   fields
	table arrow.Record
	stage string // in which
	after time.Duration
}

// cancelRun measures the time from the action cancel to its answer, for every
// solver and for what goes before them.
func cancelRun(t *testing.T, k *kit) {
	s := k.start(t)
	solvers, err := answer[[]job.SolverInfo](soon(t), s, protocol.ActionSolvers, nil)
	fatal(t, "the action solvers", err)
	list := []cancellation{
		{"choosing the penalty", fields{"solvers": []string{"bcd"}, "gap": 1e-12}, chain(12, 600, 100).lists(), "choosing the penalty", 100 * time.Millisecond},
	}
	for _, info := range solvers {
		if info.NeedsRegulators { // which is a file, and the service may have none
			continue
		}
		c := cancellation{info.Name, endless(info.Name), chain(13, 300, 100).lists(), "solving", 150 * time.Millisecond}
		if info.Name == "glad" {
			// It makes a fixed number of steps, so they must be large.
			c.job, c.table = fields{"solvers": []string{"glad"}}, chain(14, 900, 100).lists()
		}
		list = append(list, c)
	}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			k.promptly(t, "the action cancel must have ended the run and answered", func() time.Duration { return s.cancelled(t, c) })
		})
	}
	s.lives(t, "cancelled runs")
}

// cancelled starts a run, cancels it at its moment, and returns how long that
// took.
func (s *service) cancelled(t *testing.T, c cancellation) time.Duration {
	t.Helper()
	ctx := soon(t)
	run, err := s.put(ctx, c.job.command(), c.table)
	fatal(t, "DoPut", err)
	if s.reaches(ctx, t, run, c.stage) {
		time.Sleep(c.after)
	}
	began := time.Now()
	info, err := answer[protocol.RunInfo](ctx, s, protocol.ActionCancel, run)
	took := time.Since(began)
	fatal(t, "the action cancel", err)
	if info.State == protocol.StateDone {
		t.Skipf("the run had ended before it was cancelled, after %v s: this machine is too fast for the case", info.Seconds)
	}
	if info.Run != run.Run || info.State != protocol.StateCancelled {
		t.Fatalf("the action cancel must return the run's RunInfo, which is cancelled; it returns %+v", info)
	}
	if info.Error == nil || info.Error.StatusCode() != codes.Canceled || info.Error.Reason != protocol.ReasonCancelled {
		t.Errorf("the error of a cancelled run must be Canceled, %s; it is %+v", protocol.ReasonCancelled, info.Error)
	}
	_, err = s.get(ctx, protocol.Ticket{Run: run.Run})
	refusal{codes: []codes.Code{codes.Canceled}, reason: protocol.ReasonCancelled}.check(t, "DoGet of a table that a cancelled run has not come to", err)
	_, err = s.act(ctx, protocol.ActionResult, run)
	refusal{codes: []codes.Code{codes.Canceled}, reason: protocol.ReasonCancelled}.check(t, "the action result of a cancelled run", err)
	again, err := answer[protocol.RunInfo](ctx, s, protocol.ActionCancel, run)
	if err != nil || again.State != protocol.StateCancelled {
		t.Errorf("to cancel again must do nothing; it returns %+v, %v", again, err)
	}
	_, err = s.act(ctx, protocol.ActionForget, run)
	fatal(t, "the action forget", err)
	return took
}

// reaches waits until a run is in a stage, and says whether it still is: a short one may be
// over before it is watched, and the watch tells of the stage that it was in.
func (s *service) reaches(ctx context.Context, t *testing.T, run protocol.Run, stage string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.flights.DoAction(ctx, &flight.Action{Type: protocol.ActionWatch, Body: text(run)})
	fatal(t, "the action watch", err)
	var seen []string
	for {
		r, err := stream.Recv()
		if err == io.EOF && slices.Contains(seen, stage) {
			return false
		}
		if err != nil {
			t.Fatalf("the action watch must tell of the stage %q; it has told of %q and ended with %v", stage, seen, err)
		}
		var e protocol.Event
		fatal(t, "an event of the action watch", json.Unmarshal(r.GetBody(), &e))
		if e.Stage == stage && !e.Done {
			return true
		}
		seen = slices.Compact(append(seen, e.Stage))
	}
}

// cancelUpload cancels runs whose samples are still coming, by the action: the
// calls that they come from end too.
func cancelUpload(t *testing.T, k *kit) {
	s := k.start(t)
	k.promptly(t, "the action cancel must have ended the run and its DoPut", func() time.Duration {
		u := s.begin(t, quick(), batches(chain(15, 10, 100).lists(), 50)[:1])
		time.Sleep(50 * time.Millisecond) // the run is waiting for samples
		began := time.Now()
		info, err := answer[protocol.RunInfo](soon(t), s, protocol.ActionCancel, u.run)
		fatal(t, "the action cancel", err)
		_, err = u.stream.Recv()
		took := time.Since(began)
		if info.State != protocol.StateCancelled || status.Code(err) != codes.Canceled {
			t.Fatalf("the run must be cancelled and its DoPut end with Canceled; they have %s and %v", info.State, err)
		}
		return took
	})
	k.promptly(t, "the action cancel must have ended the run and its DoExchange", func() time.Duration {
		ctx, cancel := context.WithCancel(soon(t))
		defer cancel()
		stream, err := s.flights.DoExchange(ctx)
		fatal(t, "DoExchange", err)
		partly(t, stream, quick().command(), batches(chain(15, 10, 100).lists(), 50)[:1])
		run := s.only(t)
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		_, err = s.act(ctx, protocol.ActionCancel, run)
		fatal(t, "the action cancel", err)
		_, err = stream.Recv()
		took := time.Since(began)
		if status.Code(err) != codes.Canceled {
			t.Fatalf("the DoExchange of a run that was cancelled must end with Canceled; it has ended with %v", err)
		}
		return took
	})
	s.lives(t, "a cancelled upload")
}

// cancelStream hangs up exchanges at work; the run's end shows in ListFlights.
func cancelStream(t *testing.T, k *kit) {
	s := k.start(t)
	for _, solver := range []string{"bcd", "glad"} {
		j, table := endless(solver), chain(16, 300, 100).lists()
		if solver == "glad" {
			j, table = fields{"solvers": []string{"glad"}}, chain(14, 900, 100).lists()
		}
		k.promptly(t, "an exchange with "+solver+" that is cancelled must have ended its run", func() time.Duration {
			ctx, cancel := context.WithCancel(soon(t))
			ended := make(chan error, 1)
			go func() {
				_, err := s.exchange(ctx, j.command(), table)
				ended <- err
			}()
			s.working(t)
			time.Sleep(100 * time.Millisecond)
			cancel()
			took := s.untilIdle(t, "the caller has cancelled the exchange with "+solver)
			if err := <-ended; status.Code(err) != codes.Canceled {
				t.Errorf("the exchange has ended with %v", err)
			}
			return took
		})
	}
	s.lives(t, "cancelled exchanges")
}

// working waits until a run is solving.
func (s *service) working(t *testing.T) {
	t.Helper()
	eventually(t, 20*time.Second, "ListFlights must tell of a run that is running", func() bool {
		runs, err := s.atWork(soon(t))
		fatal(t, "ListFlights", err)
		return len(runs) > 0 && runs[0].State == protocol.StateRunning
	})
}

// deadline lets calls run out of time: an exchange's run ends with it, that of
// a DoGet goes on.
func deadline(t *testing.T, k *kit) {
	s := k.start(t)
	table := chain(17, 300, 100).lists()
	const patience = 500 * time.Millisecond

	k.promptly(t, "an exchange beyond its deadline must have ended its run", func() time.Duration {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := s.exchange(ctx, endless("bcd").command(), table)
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("an exchange beyond its deadline must end with DeadlineExceeded; it has ended with %v", err)
		}
		return s.untilIdle(t, "the deadline of an exchange")
	})

	run, err := s.put(soon(t), endless("bcd").command(), table)
	fatal(t, "DoPut", err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = s.get(ctx, protocol.Ticket{Run: run.Run})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a DoGet beyond its deadline must end with DeadlineExceeded; it has ended with %v", err)
	}
	if state := s.state(soon(t), t, run); state != protocol.StateRunning {
		t.Errorf("a run must go on when a DoGet of its results was given up; it is %q", state)
	}
	_, err = s.act(soon(t), protocol.ActionForget, run)
	fatal(t, "the action forget", err)
	s.idle(t, k.endWithin, "the action forget")
	s.lives(t, "deadlines")
}
