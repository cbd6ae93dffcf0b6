package plugin

import (
	"context"
	"errors"
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
