package runs

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run that is kept does not hold its call, with the messages that nobody has read;
// its work has the values of the call.
func TestARunThatIsKeptHoldsNothingOfItsCall(t *testing.T) {
	type key struct{}
	seen := make(chan bool, 1)
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 20}, func(ctx context.Context, _ job.Job, _ recovery.Host) (*job.Result, error) {
		_, ok := ctx.Value(key{}).(*[1 << 20]byte)
		seen <- ok
		return nil, nil
	})
	r, message := func() (*Run, weak.Pointer[[1 << 20]byte]) {
		message := new([1 << 20]byte)
		call, hangUp := context.WithCancel(context.WithValue(context.Background(), key{}, message))
		defer hangUp()
		r, err := g.Start(call, Request{Job: job.Job{Solvers: []string{"bcd"}}, Detached: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WaitEnd(); err != nil {
			t.Fatal(err)
		}
		return r, weak.Make(message)
	}()
	if !<-seen {
		t.Error("the work of the run has not the values of its call")
	}
	for end := time.Now().Add(10 * time.Second); message.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the run that is kept holds its call")
		}
	}
	if !kept(g, r)[0] {
		t.Error("the run is not kept")
	}
}

// Results that a call takes make no room for others, and are given back once, at the
// end of the last of the calls.
func TestResultsThatAreTakenMakeNoRoom(t *testing.T) {
	edges, bytes := unitBytes(t)
	g := registryOf(t, protocol.Limits{ResultBytes: bytes + bytes/2}, finding)
	first := mustDone(t, g, "alice", edges)
	end, endToo := g.Hold(first), g.Hold(first)
	if _, err := done(t, g, "alice", edges); err == nil {
		t.Error("results that are being sent make room for others")
	}
	g.Forget(first)
	end()
	if _, _, held := g.Stats(); held != bytes {
		t.Errorf("a call still takes %d bytes, of which %d count", bytes, held)
	}
	endToo()
	g.mu.Lock()
	left := g.accounts["alice"]
	g.mu.Unlock()
	if _, _, held := g.Stats(); held != 0 || g.Reserved() != 0 || left != (account{}) {
		t.Errorf("after the last call %d bytes count, %d are reserved, %+v", held, g.Reserved(), left)
	}
	mustDone(t, g, "alice", edges)
}
