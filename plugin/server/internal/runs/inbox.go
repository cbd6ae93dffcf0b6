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
//
// Connections take turns: calls whose messages do not come, of which one connection may
// have many, hold up a call on another for a turn or two and not for all of theirs.
type inbox struct {
	size   int64 // of the largest message
	memory *memory.Budget
	wait   time.Duration // for the turn of a call

	mu    sync.Mutex
	quota quota
	aside bool // whether a message has the memory that is set aside
	turns uint64
	flows map[flow]*turns
	queue []*waiting // in the order of their coming
}

// A flow is the calls of a caller on a connection.
type flow struct {
	caller     Caller
	connection any
}

// turns are those of a flow that has calls which wait or whose messages are coming.
type turns struct {
	waiting, coming int
	last            uint64 // 0 before the first
}

// waiting is a call that waits for its turn.
type waiting struct {
	flow flow
	turn chan func() // gets the end of the message
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
	return &inbox{size: size, memory: budget, wait: turnTime, quota: newQuota(most, shareOf(most)), flows: make(map[flow]*turns)}
}

// AwaitMessage waits until there is memory for a message of a call on a connection, by
// whatever tells it from others. end must be called when the message has come, or never
// will.
func (g *Registry) AwaitMessage(ctx context.Context, c Caller, connection any) (end func(), err error) {
	return g.inbox.await(ctx, flow{c, connection})
}

func (b *inbox) await(ctx context.Context, f flow) (end func(), err error) {
	w := &waiting{f, make(chan func(), 1)}
	b.mu.Lock()
	b.queue = append(b.queue, w)
	b.count(f, func(t *turns) { t.waiting++ })
	b.admitLocked()
	b.mu.Unlock()
	select {
	case end := <-w.turn: // most calls do not wait
		return end, nil
	default:
	}

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
		b.count(f, func(t *turns) { t.waiting-- })
		return nil, err
	}
	return <-w.turn, nil // it came at the same time
}

// count changes what is known of a flow, which is forgotten when it has no calls.
func (b *inbox) count(f flow, change func(*turns)) {
	t := b.flows[f]
	if t == nil {
		t = new(turns)
		b.flows[f] = t
	}
	change(t)
	if t.waiting == 0 && t.coming == 0 {
		delete(b.flows, f)
	}
}

// admitLocked gives their turn to as many calls as there is memory for: of the flow that
// has the fewest messages under way, and of those the one whose turn is the longest ago.
func (b *inbox) admitLocked() {
	for {
		next := -1
		for i, w := range b.queue {
			if b.quota.fits(w.flow.caller) && (next < 0 || b.flows[w.flow].before(b.flows[b.queue[next].flow])) {
				next = i
			}
		}
		if next < 0 || b.aside && b.memory.Reserve(b.size) != nil {
			return
		}
		aside := !b.aside
		b.aside = true
		f := b.queue[next].flow
		b.queue[next].turn <- b.admitted(f, aside)
		b.queue = slices.Delete(b.queue, next, next+1)
	}
}

func (t *turns) before(other *turns) bool {
	return t.coming < other.coming || t.coming == other.coming && t.last < other.last
}

// admitted counts a message that comes, in the memory that is set aside or in its own,
// and returns its end.
func (b *inbox) admitted(f flow, aside bool) (end func()) {
	b.quota.add(f.caller)
	b.turns++
	b.count(f, func(t *turns) { t.waiting, t.coming, t.last = t.waiting-1, t.coming+1, b.turns })
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.quota.remove(f.caller)
		b.count(f, func(t *turns) { t.coming-- })
		if aside {
			b.aside = false
		} else {
			b.memory.Release(b.size)
		}
		b.admitLocked()
	})
}

// MessagesWait says whether calls wait for their turn, so that those whose messages are
// on their way should not take long.
func (g *Registry) MessagesWait() bool {
	g.inbox.mu.Lock()
	defer g.inbox.mu.Unlock()
	return len(g.inbox.queue) > 0
}
