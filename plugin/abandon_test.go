package plugin

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run that the service starts while the context of Recover ends has nobody who could
// end it: it is cancelled.
func TestRunOfAnEndedContext(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	cancelled := make(chan string, 1)
	client := attach(t, &fake{action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
		switch a.Type {
		case protocol.ActionRecover:
			close(asked)
			<-ended
			return reply(s, protocol.Run{Run: "r1"})
		case protocol.ActionCancel:
			cancelled <- string(a.Body)
			return reply(s, protocol.RunInfo{Run: "r1"})
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	_, err := client.Recover(ctx, job.Job{Input: "table.csv"}, nil)
	if !errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
		t.Errorf("error %v", err)
	}
	close(ended)
	select {
	case run := <-cancelled:
		if run != `{"run":"r1"}` {
			t.Errorf("%s is cancelled", run)
		}
	case <-time.After(3 * time.Second):
		t.Error("the run goes on")
	}
	if _, err := client.Recover(ctx, job.Job{Input: "table.csv"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: error %v", err)
	}
}

// A run of samples that have all been sent when the context of Recover ends: the
// service may have started it.
func TestRunOfAnEndedContextAndSamples(t *testing.T) {
	for name, end := range map[string]error{"cancelled": context.Canceled, "deadline": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			read, returned := make(chan struct{}), make(chan struct{})
			cancelled := make(chan string, 1)
			client := attach(t, &fake{
				put: func(s flight.FlightService_DoPutServer) error {
					for receive(s, 1) == nil {
					}
					close(read)
					<-returned
					return s.Send(&flight.PutResult{AppMetadata: []byte(`{"run":"r1"}`)})
				},
				action: func(a *flight.Action, s flight.FlightService_DoActionServer) error {
					if a.Type == protocol.ActionCancel {
						cancelled <- string(a.Body)
					}
					return reply(s, protocol.RunInfo{Run: "r1"})
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			if end == context.DeadlineExceeded {
				ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
			}
			defer cancel()
			if end == context.Canceled {
				go func() {
					<-read
					cancel()
				}()
			}
			_, err := client.Recover(ctx, job.Job{}, samples(t, 2, nil))
			if !errors.Is(err, end) || status.Code(err) != status.FromContextError(end).Code() {
				t.Errorf("error %v", err)
			}
			<-read
			close(returned)
			select {
			case run := <-cancelled:
				if run != `{"run":"r1"}` {
					t.Errorf("%s is cancelled", run)
				}
			case <-time.After(3 * time.Second):
				t.Error("the run goes on")
			}
		})
	}
}

// The end of the context while samples are sent ends the call.
func TestContextThatEndsWhileSamplesAreSent(t *testing.T) {
	for name, end := range map[string]error{"cancelled": context.Canceled, "deadline": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			client := attach(t, &fake{put: func(s flight.FlightService_DoPutServer) error {
				for receive(s, 1) == nil {
				}
				if s.Context().Err() == nil {
					t.Error("the service is told that it has all samples")
				}
				close(ended)
				return s.Context().Err()
			}})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if end == context.Canceled {
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			in := samples(t, -1, nil)
			_, err := client.Recover(ctx, job.Job{}, in)
			if !errors.Is(err, end) || status.Code(err) != status.FromContextError(end).Code() {
				t.Errorf("error %v", err)
			}
			in.untouched(t)
			select {
			case <-ended:
			case <-time.After(3 * time.Second):
				t.Error("the call goes on")
			}
		})
	}
}

// Whenever the context of Recover ends, no run goes on that its caller does not have.
func TestNoRunIsLeft(t *testing.T) {
	const calls = 500
	c := served(t, protocol.Limits{ConcurrentRuns: calls})
	rng := rand.New(rand.NewPCG(1, 2))
	long := job.Job{Solvers: []string{"am"}, Penalty: "0.001", Gap: 1e-300, IterationLimit: 1 << 40}
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(rng.IntN(1500))*time.Microsecond, cancel)
		c.Recover(ctx, long, tableOf(t, 30, 12)) // ends its run, if it has one, by ctx
		cancel()
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		runs, err := c.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		going, done := 0, 0
		for _, r := range runs {
			switch {
			case !r.State.Ended():
				going++
			case r.State != protocol.StateCancelled:
				done++
			}
		}
		if done > 0 || time.Now().After(end) {
			t.Fatalf("of %d calls %d runs go on, and %d have not been cancelled", calls, going, done)
		}
		if going == 0 {
			return
		}
	}
}
