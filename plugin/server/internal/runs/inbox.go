package runs

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// messageSlack is the part of the limit of a message by which the transport's own is
// larger: the transport refuses what is larger than that itself, in its own words.
const messageSlack = 4

// LargestMessage is the size of a message that the transport takes, in bytes. Until
// it has come whole, nothing but the transport sees how large it is.
func LargestMessage(l protocol.Limits) int64 {
	return int64(l.MessageBytes) + int64(l.MessageBytes)/messageSlack
}

// An inbox bounds the messages that are on their way to calls of one message, such as
// actions. For each there must be memory for the largest while it comes. That of
// one is set aside, so that such calls are always taken, one after the other; for more it
// is reserved.
type inbox struct {
	size   int64 // of the largest message
	memory *memory.Budget
	wait   time.Duration // for the turn of a call

	mu    sync.Mutex
	quota quota
	aside bool // whether a message has the memory that is set aside
	queue []*waiting
}

// waiting is a call that waits for its turn.
type waiting struct {
	caller Caller
	turn   chan func() // gets the end of the message
}

// inboxShare is the part of the memory that messages of such calls may take, and
// mostMessages how many of them come at a time at the most.
const (
	inboxShare   = 8
	mostMessages = 32
	turnTime     = 30 * time.Second
)

func newInbox(l protocol.Limits, shareOf func(int) int, budget *memory.Budget) *inbox {
	size := LargestMessage(l)
	most := mostMessages
	if l.MemoryBytes > 0 {
		most = int(min(max(l.MemoryBytes/inboxShare/max(size, 1), 2), mostMessages))
	}
	return &inbox{size: size, memory: budget, wait: turnTime, quota: newQuota(most, shareOf(most))}
}

// AwaitMessage waits until there is memory for a message of a call. end must be
// called when it has come, or never will.
func (g *Registry) AwaitMessage(ctx context.Context, c Caller) (end func(), err error) {
	return g.inbox.await(ctx, c)
}

func (b *inbox) await(ctx context.Context, c Caller) (end func(), err error) {
	b.mu.Lock()
	if len(b.queue) == 0 {
		if end := b.admitLocked(c); end != nil {
			b.mu.Unlock()
			return end, nil
		}
	}
	w := &waiting{c, make(chan func(), 1)}
	b.queue = append(b.queue, w)
	b.admitWaitingLocked()
	b.mu.Unlock()

	patience := time.NewTimer(b.wait)
	defer patience.Stop()
	select {
	case end := <-w.turn:
		return end, nil
	case <-ctx.Done():
		err = fault.CallEnded(ctx)
	case <-patience.C:
		err = fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
			"other messages are on their way to the service, and after %v there is still no memory for one more; try again, or lower message_bytes (gladflow serve --max-message-size)", b.wait)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.queue, w); i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
		return nil, err
	}
	return <-w.turn, nil // it came at the same time
}

// admitLocked makes room for a message of a caller. The result, its end, is nil if
// there is none.
func (b *inbox) admitLocked(c Caller) (end func()) {
	if !b.quota.fits(c) {
		return nil
	}
	aside := !b.aside
	if aside {
		b.aside = true
	} else if b.memory.Reserve(b.size) != nil {
		return nil
	}
	b.quota.add(c)
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.quota.remove(c)
		if aside {
			b.aside = false
		} else {
			b.memory.Release(b.size)
		}
		b.admitWaitingLocked()
	})
}

// admitWaitingLocked gives their turn to those that wait, but for callers that have as
// many messages under way as they may have. The last to come is the first, so that
// calls whose messages do not come, of which there may be many, hold up a call whose
// message is there for one turn and not for all of theirs.
func (b *inbox) admitWaitingLocked() {
	for i := len(b.queue) - 1; i >= 0; i-- {
		if end := b.admitLocked(b.queue[i].caller); end != nil {
			b.queue[i].turn <- end
			b.queue = slices.Delete(b.queue, i, i+1)
		}
	}
}

// MessagesWait says whether calls wait for their turn, so that those whose messages are
// on their way should not take long.
func (g *Registry) MessagesWait() bool {
	g.inbox.mu.Lock()
	defer g.inbox.mu.Unlock()
	return len(g.inbox.queue) > 0
}
