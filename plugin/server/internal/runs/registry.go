// Package runs has the runs of the service: who may start one, its state and
// events, its results until they are taken or too old, and how all end when the
// service does.
package runs

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// maxEnded bounds the runs that are kept after their end, whose results may take
// no memory.
const maxEnded = 1000

// A Config is what a Registry is made of.
type Config struct {
	Limits protocol.Limits // without zeros, but for quotas of callers
	// Callers says that callers are told apart: none may have all calls.
	Callers bool
	// SharedRuns lets every caller know of the runs of all.
	SharedRuns bool
	// Root opens the files that jobs name; nil: any of this machine.
	Root *arrowio.Root
	// Stores open the URLs that jobs name; nil: they are refused.
	Stores arrowio.Opener
	Logger hclog.Logger
	// Observer is called for every run; nil for none.
	Observer Observer
	// Work does a job: recovery.Run, but in tests.
	Work func(context.Context, job.Job, recovery.Host) (*job.Result, error)
}

// An Observer observes runs. Its methods are called from many goroutines.
type Observer interface {
	// RunStarted returns the context of the run: ctx, perhaps with a span.
	RunStarted(ctx context.Context, s Started) context.Context
	// StageDone is called after the end of every stage.
	StageDone(ctx context.Context, p progress.Update)
	// RunEnded is called after the end of every run; fault is nil for one that is
	// done.
	RunEnded(ctx context.Context, state protocol.State, took time.Duration, fault *protocol.Fault)
}

// Started is what an Observer is told of a run that starts.
type Started struct {
	Run     string
	Caller  Caller // empty if all callers are one
	Solvers []string
	Labels  map[string]string // of the job, not to be changed
}

type noObserver struct{}

func (noObserver) RunStarted(ctx context.Context, _ Started) context.Context { return ctx }
func (noObserver) StageDone(context.Context, progress.Update)                {}
func (noObserver) RunEnded(context.Context, protocol.State, time.Duration, *protocol.Fault) {
}

// A Registry has the runs of a service. It is safe for concurrent use.
type Registry struct {
	Config

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	work sync.WaitGroup // of runs, and of what removes old ones

	mu       sync.Mutex
	runs     map[string]*Run
	ended    []*Run // those of runs that have ended, the oldest first
	running  int
	draining bool
	bytes    int64 // reserved for results
	accounts map[Caller]account
	calls    quota // that are open
	memory   *memory.Budget
	inbox    *inbox
	making   making
	idle     chan struct{} // closed when running falls to 0; nil if nothing waits
}

// New makes a registry. Close releases it.
func New(c Config) *Registry {
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	g := &Registry{
		Config: c, runs: make(map[string]*Run), accounts: make(map[Caller]account),
		// A message can always come: see inbox.
		memory: memory.NewBudgetBeside(c.Limits.MemoryBytes, LargestMessage(c.Limits)),
	}
	most, _ := OpenCalls(c.Limits)
	g.calls = newQuota(most, g.shareOf(most))
	g.making.quota = newQuota(max(2, c.Limits.Threads), g.shareOf(max(2, c.Limits.Threads)))
	g.inbox = newInbox(c.Limits, g.shareOf, g.memory)
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.work.Go(g.removeExpired)
	return g
}

// shareOf is the part of n that one caller may have: half where callers are told
// apart.
func (c *Config) shareOf(n int) int {
	if c.Callers {
		return (n + 1) / 2
	}
	return n
}

// Close cancels every run and waits until they have ended.
func (g *Registry) Close() {
	g.mu.Lock()
	g.draining = true
	g.mu.Unlock()
	g.stop()
	g.work.Wait()
}

// acquire registers a run, or refuses it: there are ConcurrentRuns slots. The
// run must be executed.
func (g *Registry) acquire(r *Run) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return drainingFault()
	}
	if err := g.checkRunsLocked(r.caller); err != nil {
		return err
	}
	if g.running >= g.Limits.ConcurrentRuns {
		return fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
			"%d runs are at work already, which is the limit; try again when one has ended", g.running)
	}
	g.running++
	g.accountLocked(r.caller, func(a *account) { a.running++ })
	g.work.Add(1) // under the lock, so before Close waits
	g.runs[r.id] = r
	return nil
}

// finish ends a run and keeps its results if keep says so. It releases the slot
// under the same lock, unless work goes on: a caller that sees the end of a run
// can start the next one.
func (g *Registry) finish(r *Run, o outcome, f *protocol.Fault, keep bool) (took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	took = r.end(o.result, f)
	if !o.abandoned {
		g.releaseLocked(r)
	}
	switch {
	case g.runs[r.id] != r: // forgotten meanwhile
	case !keep:
		g.removeLocked(r)
	default:
		g.ended = append(g.ended, r)
		g.boundEndedLocked(r.caller)
	}
	return took
}

// release gives back the slot of a run.
func (g *Registry) release(r *Run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseLocked(r)
}

func (g *Registry) releaseLocked(r *Run) {
	g.running--
	g.accountLocked(r.caller, func(a *account) { a.running-- })
	if g.running == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// removeLocked removes a run and frees the memory of its results, at the end of the
// last call that takes them.
func (g *Registry) removeLocked(r *Run) {
	if g.runs[r.id] != r {
		return
	}
	delete(g.runs, r.id)
	if i := slices.Index(g.ended, r); i >= 0 {
		g.ended = slices.Delete(g.ended, i, i+1)
	}
	if r.takers == 0 {
		g.giveBackLocked(r)
	}
}

func (g *Registry) giveBackLocked(r *Run) {
	g.bytes -= r.reserved
	g.accountLocked(r.caller, func(a *account) { a.bytes -= r.reserved })
	g.memory.Release(r.reserved)
	r.reserved = 0
}

// Hold keeps the memory of a run's results counted while a call takes them, also when
// the run is removed meanwhile. end must be called when the call has ended.
func (g *Registry) Hold(r *Run) (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.takers++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.takers--; r.takers == 0 && g.runs[r.id] != r {
			g.giveBackLocked(r)
		}
	}
}

// Forget removes a run.
func (g *Registry) Forget(r *Run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(r)
}

// reserve takes memory for results of r, which has reserved some of it already, if
// need be that of runs that have ended: see roomLocked.
func (g *Registry) reserve(r *Run, bytes, reserved int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.runs[r.id] != r {
		g.memory.Release(reserved)
		return nil // forgotten, so that the run is about to end
	}
	if r.hasEnded() { // its work goes on; to make room could remove r itself
		g.memory.Release(reserved)
		return errEnded
	}
	if err := g.keepLocked(r.caller, bytes, reserved); err != nil {
		return err
	}
	g.bytes += bytes
	g.accountLocked(r.caller, func(a *account) { a.bytes += bytes })
	r.reserved += bytes
	return nil
}

// unreserve gives back memory of results of r that are not kept.
func (g *Registry) unreserve(r *Run, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.runs[r.id] != r {
		return // with which it is given back
	}
	g.bytes -= bytes
	g.accountLocked(r.caller, func(a *account) { a.bytes -= bytes })
	g.memory.Release(bytes)
	r.reserved -= bytes
}

// Find returns the run of that name, if the caller may know of it.
func (g *Registry) Find(c Caller, id string) (*Run, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.runs[id]; ok && g.visible(c, r) {
		return r, nil
	}
	f := fault.New(codes.NotFound, protocol.ReasonNotFound,
		"there is no run %q; results are kept for %v after the end of a run, or until newer ones need their memory", id, g.maxAge())
	f.Run = id
	return nil, f
}

// List returns the runs that a caller may know of, the oldest first.
func (g *Registry) List(c Caller) []*Run {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []*Run
	for _, r := range g.runs {
		if g.visible(c, r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *Run) int { return a.accepted.Compare(b.accepted) })
	return list
}

// Stats returns the number of runs at work, that of runs that have ended and are
// kept, and the memory that results take, in bytes.
func (g *Registry) Stats() (running, ended int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running, len(g.ended), g.bytes
}

// maxAge is how long a run is kept after its end.
func (g *Registry) maxAge() time.Duration {
	return time.Duration(g.Limits.ResultSeconds * float64(time.Second))
}

// removeExpired removes runs that ended too long ago, until Close.
func (g *Registry) removeExpired() {
	age := g.maxAge()
	tick := time.NewTicker(min(max(age/10, time.Millisecond), 10*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case now := <-tick.C:
			g.removeEndedBefore(now.Add(-age))
		}
	}
}

func (g *Registry) removeEndedBefore(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.ended) > 0 && g.ended[0].endedAt().Before(t) {
		g.removeLocked(g.ended[0])
	}
}

// newRun is a run of a valid job, not yet registered. If it is detached, it
// outlives its call, and is kept: its context then has nothing of the call's, which
// holds what the caller had sent and nobody has read. It is cancelled when the service
// ends.
func (g *Registry) newRun(call context.Context, q Request) *Run {
	if q.Detached {
		call = context.Background()
	}
	ctx, cancel := context.WithCancelCause(call)
	stop := context.AfterFunc(g.ctx, func() { cancel(drainingFault()) })
	context.AfterFunc(ctx, func() { stop() })
	j := recovery.Resolved(q.Job)
	if q.Work != nil {
		j.Solvers = []string{}
	}
	return newRun(ctx, cancel, rand.Text(), q.Caller, j)
}

func drainingFault() *protocol.Fault {
	return fault.New(codes.Unavailable, protocol.ReasonDraining, "the service is ending; try again, or elsewhere")
}
