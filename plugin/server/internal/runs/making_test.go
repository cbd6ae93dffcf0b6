package runs

import (
	"context"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// Pages are made two at a time, one of each caller; the others wait for their turn, and a
// call that hangs up gives up its place.
func TestPagesWait(t *testing.T) {
	g := New(Config{Limits: protocol.Limits{ConcurrentRuns: 1, Threads: 1, MessageBytes: 1 << 20, ResultSeconds: 60, IdleSeconds: 60}, Callers: true})
	defer g.Close()
	begin := func(ctx context.Context, c Caller) chan func() {
		begun := make(chan func(), 1)
		go func() {
			end, err := g.AwaitTurn(ctx, c)
			if err != nil {
				begun <- nil
				return
			}
			begun <- end
		}()
		return begun
	}
	waits := func(c chan func()) {
		t.Helper()
		select {
		case <-c:
			t.Error("a page is made before its turn")
		case <-time.After(20 * time.Millisecond):
		}
	}
	alice := <-begin(t.Context(), "alice")
	second := begin(t.Context(), "alice")
	waits(second)
	bob := <-begin(t.Context(), "bob")
	ctx, hangUp := context.WithCancel(t.Context())
	third := begin(ctx, "carol")
	waits(third)
	hangUp()
	if end := <-third; end != nil {
		t.Error("a call that has hung up makes a page")
	}
	bob()
	waits(second)
	alice()
	(<-second)()
}
