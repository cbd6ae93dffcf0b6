package runs

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// inboxOf has so many slots, of which a caller may have half, and a budget of so many
// messages beside the one whose memory is set aside.
func inboxOf(t *testing.T, most int, messages int64) (*inbox, *Registry) {
	t.Helper()
	g := bounded(t, messages*LargestMessage(boundedLimits(0)), nil)
	g.inbox.quota = newQuota(most, (most+1)/2)
	return g.inbox, g
}

// admitted is the end of a message that is taken at once.
func admitted(t *testing.T, b *inbox, c Caller) func() {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	end, err := b.await(ctx, flow{caller: c})
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// waits starts a call and makes sure that it waits.
func waits(t *testing.T, b *inbox, c Caller) <-chan func() {
	t.Helper()
	turn := make(chan func(), 1)
	queued(t, b, func() {
		if end, err := b.await(t.Context(), flow{caller: c}); err == nil {
			turn <- end
		}
	})
	return turn
}

// queued runs a call and returns when it waits for its turn.
func queued(t *testing.T, b *inbox, call func()) {
	t.Helper()
	length := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.queue)
	}
	before := length()
	go call()
	for start := time.Now(); length() == before; time.Sleep(time.Millisecond) {
		if time.Since(start) > 5*time.Second {
			t.Fatal("a call does not wait for its turn")
		}
	}
}

// All messages that are on their way have memory, and one has it whatever runs take.
func TestInboxReserves(t *testing.T) {
	b, g := inboxOf(t, 10, 1)
	first := admitted(t, b, "alice")
	taken(t, g, 0, "the first message comes in the memory that is set aside", func() {})
	second := admitted(t, b, "bob")
	taken(t, g, b.size, "a second one comes", func() {})
	third := waits(t, b, "carol")
	second()
	second() // once more is no harm
	end := <-third
	taken(t, g, b.size, "a third comes after the second", func() {})
	first()
	end()
	taken(t, g, 0, "all have come", func() {})

	if err := g.memory.Reserve(g.memory.Free()); err != nil {
		t.Fatal(err)
	}
	end = admitted(t, b, "alice")
	next := waits(t, b, "alice")
	end()
	(<-next)()
	g.memory.Release(b.size)
	if n := g.Reserved(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// One caller does not keep others from their turn.
func TestInboxIsShared(t *testing.T) {
	b, _ := inboxOf(t, 4, 100)
	ends := []func(){admitted(t, b, "alice"), admitted(t, b, "alice")}
	more := waits(t, b, "alice")
	// Who comes later and has none goes first.
	for range 2 {
		ends = append(ends, admitted(t, b, "bob"))
	}
	carol := waits(t, b, "carol")
	ends[0]()
	(<-carol)() // who has no message under way
	(<-more)()
	for _, end := range ends[1:] {
		end()
	}
	if b.quota.total != 0 || len(b.quota.each) != 0 || len(b.queue) != 0 || len(b.flows) != 0 || b.aside {
		t.Errorf("%+v is left", b.quota)
	}
}

// Connections of a caller take turns, also when one of them has come with many calls
// before and after.
func TestConnectionsTakeTurns(t *testing.T) {
	b, _ := inboxOf(t, 1, 0)
	end := admitted(t, b, "alice")
	order := make(chan string, 100)
	var all sync.WaitGroup
	call := func(connection string) {
		all.Add(1)
		queued(t, b, func() {
			defer all.Done()
			end, err := b.await(t.Context(), flow{"alice", connection})
			if err != nil {
				t.Error(err)
				return
			}
			order <- connection
			end()
		})
	}
	for range 10 {
		call("many")
	}
	call("few")
	call("other")
	for range 10 {
		call("many")
	}
	call("few")
	end()
	all.Wait()
	close(order)
	var got []string
	for connection := range order {
		got = append(got, connection)
	}
	if want := []string{"many", "few", "other", "many", "few", "many"}; !slices.Equal(got[:6], want) {
		t.Errorf("the order is %q", got)
	}
}

// Nobody waits without end, and who has gone leaves no trace.
func TestInboxPatience(t *testing.T) {
	b, _ := inboxOf(t, 1, 100)
	b.wait = 20 * time.Millisecond
	end := admitted(t, b, "alice")
	_, err := b.await(t.Context(), flow{caller: "bob"})
	if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.ResourceExhausted || f.Reason != protocol.ReasonLimit {
		t.Errorf("who waits for long: %v", err)
	}
	b.wait = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.await(ctx, flow{caller: "bob"}); protocol.FaultOf(err).Reason != protocol.ReasonCancelled {
		t.Errorf("who has gone: %v", err)
	}
	end()
	admitted(t, b, "carol")()
}

// What calls hold unread is a small part of the memory.
func TestOpenCalls(t *testing.T) {
	for _, memory := range []int64{0, 300 << 20, 1 << 30, 8 << 30, 1 << 40} {
		most, window := OpenCalls(protocol.Limits{MemoryBytes: memory})
		if most < fewestCalls || most > mostCalls || window < leastWindow || window > mostWindow {
			t.Errorf("of %d bytes: %d calls, windows of %d bytes", memory, most, window)
		}
		if memory > 0 && int64(most)*window > memory/callShare {
			t.Errorf("of %d bytes calls hold %d", memory, int64(most)*window)
		}
	}
	g := registryOf(t, protocol.Limits{}, nil)
	g.calls = newQuota(3, 2)
	var ends []func()
	for range 2 {
		end, err := g.BeginCall("alice")
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if _, err := g.BeginCall("alice"); protocol.FaultOf(err).StatusCode() != codes.ResourceExhausted {
		t.Errorf("a third call of one caller: %v", err)
	}
	end, err := g.BeginCall("bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.BeginCall("carol"); err == nil {
		t.Error("a fourth call is taken")
	}
	for _, end := range append(ends, end) {
		end()
	}
	if g.calls.total != 0 || len(g.calls.each) != 0 {
		t.Errorf("%+v is left", g.calls)
	}
}
