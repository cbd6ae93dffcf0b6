package runs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// A Run is a job at work, and its results after it. Its state is receiving until
// the samples have been read, then running, then done, failed or cancelled, and
// nothing after that.
type Run struct {
	id       string
	caller   Caller
	job      job.Job // resolved
	accepted time.Time
	ctx      context.Context // of the work
	cancel   context.CancelCauseFunc
	read     chan struct{} // closed when the samples have been read
	done     chan struct{} // closed when the run has ended
	taken    atomic.Bool   // whether a caller has taken a table
	reserved int64         // memory of results; guarded by the registry's lock
	takers   int           // calls that take results; so is this

	mu      sync.Mutex
	state   protocol.State
	changed chan struct{} // closed at the next change that waiters wait for
	events  []protocol.Event
	now     protocol.Event // the stage at work
	began   time.Time      // when it began
	version int            // of now
	solved  map[string]Tables
	result  *job.Result
	page    *page.Page // nil where there is none, or no room for it
	fault   *protocol.Fault
	ended   time.Time
}

// Tables are what a solver has found, by the names of package protocol.
type Tables map[string]arrow.Record

func newRun(ctx context.Context, cancel context.CancelCauseFunc, id string, caller Caller, j job.Job) *Run {
	return &Run{
		id:       id,
		caller:   caller,
		job:      j,
		ctx:      ctx,
		cancel:   cancel,
		accepted: time.Now(),
		read:     make(chan struct{}),
		done:     make(chan struct{}),
		state:    protocol.StateReceiving,
		changed:  make(chan struct{}),
		solved:   make(map[string]Tables),
	}
}

// ID is the run's name.
func (r *Run) ID() string { return r.id }

// Job is the run's job with its defaults.
func (r *Run) Job() job.Job { return r.job }

// Cancel ends the run soon; cause is what callers are told. Only the first call
// counts.
func (r *Run) Cancel(cause error) { r.cancel(cause) }

// yields says whether to remove the run frees memory. The caller has the registry's
// lock.
func (r *Run) yields() bool { return r.reserved > 0 && r.takers == 0 }

// change makes a change that waiters wait for.
func (r *Run) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// progress is the recovery.Host's.
func (r *Run) progress(p progress.Update) {
	e := protocol.Event{
		Run:    r.id,
		Stage:  string(p.Stage),
		Solver: p.Solver,
		Detail: p.Detail,
		Left:   p.Left.Seconds(),
		Done:   p.Done,
		Labels: r.job.Labels,
	}
	if f := p.Fraction; f == f {
		e.Fraction = &f
	}
	if !p.Done {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.state.Ended() {
			return
		}
		if r.now.Stage != e.Stage || r.now.Solver != e.Solver {
			r.began = time.Now()
		}
		e.State, e.Seconds = r.state, time.Since(r.began).Seconds()
		r.now = e
		r.version++
		return
	}
	e.Seconds = p.Elapsed.Seconds()
	r.change(func() {
		if r.state.Ended() {
			return
		}
		if p.Stage == progress.Reading {
			close(r.read)
			r.state = protocol.StateRunning
		}
		e.State = r.state
		r.events = append(r.events, e)
		r.now = e
	})
}

// errEnded is what work that goes on after the end of its run is told.
var errEnded = errors.New("the run has ended")

// addTables adds what a solver has found.
func (r *Run) addTables(solver string, found Tables) error {
	ended := false
	r.change(func() {
		if ended = r.state.Ended(); !ended {
			r.solved[solver] = found
		}
	})
	if ended {
		return errEnded
	}
	return nil
}

// interrupted is the error of a run whose context has ended, with the solver
// that was at work.
func (r *Run) interrupted() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.Solver == "" || r.now.Done {
		return r.ctx.Err()
	}
	return &job.SolverError{Solver: r.now.Solver, Err: r.ctx.Err()}
}

// end notes how the run has ended, and returns how long it took. The document says
// the fault in the words in which callers are told it.
func (r *Run) end(result *job.Result, f *protocol.Fault) (took time.Duration) {
	if result != nil && f != nil {
		result.Partial, result.Error = true, f.Message
	}
	r.change(func() {
		r.result, r.fault, r.ended = result, f, time.Now()
		took = r.ended.Sub(r.accepted)
		switch {
		case f == nil:
			r.state = protocol.StateDone
		case f.StatusCode() == codes.Canceled:
			r.state = protocol.StateCancelled
		default:
			r.state = protocol.StateFailed
		}
		close(r.done)
	})
	return took
}

// hasEnded stays as it is while the registry's lock is held.
func (r *Run) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Ended()
}

func (r *Run) endedAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// Info is what is known at once.
func (r *Run) Info() protocol.RunInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := protocol.RunInfo{Run: r.id, State: r.state, Solvers: r.job.Solvers, Seconds: r.seconds(), Error: r.fault, Labels: r.job.Labels}
	for _, name := range r.job.Solvers {
		t, ok := r.solved[name]
		if !ok {
			continue
		}
		i.Finished = append(i.Finished, name)
		for _, record := range t {
			i.Bytes += recordBytes(record)
		}
	}
	return i
}

// seconds since the run was accepted, or that it took. The caller has the lock.
func (r *Run) seconds() float64 {
	if r.state.Ended() {
		return r.ended.Sub(r.accepted).Seconds()
	}
	return time.Since(r.accepted).Seconds()
}

// failure is the fault of a run that has failed; nil before that.
func (r *Run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		return nil
	}
	return r.fault
}

// Table is a table of a solver; nil if it is not there yet.
func (r *Run) Table(name, solver string) arrow.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.solved[solver][name]
}

// MarkTaken notes that a caller takes results. A drain waits for that.
func (r *Run) MarkTaken() { r.taken.Store(true) }

// WaitRead waits until the samples have been read, and returns what is wrong
// with them. A run that is cancelled while it reads a stream ends only after the
// call has, so this returns with the cancellation.
func (r *Run) WaitRead() error {
	select {
	case <-r.read:
		return nil
	case <-r.done:
	case <-r.ctx.Done():
	}
	select {
	case <-r.read: // both: what failed came later
		return nil
	default:
		return r.ending()
	}
}

// WaitEnd waits until the run has ended or is cancelled, and returns why it
// failed.
func (r *Run) WaitEnd() error {
	select {
	case <-r.done:
	case <-r.ctx.Done():
	}
	return r.ending()
}

// ending is failure, or of a run that is about to end, why.
func (r *Run) ending() error {
	select {
	case <-r.done:
		return r.failure()
	default:
		f := fault.Of(r.ctx, context.Cause(r.ctx))
		f.Run = r.id
		return f
	}
}

// WaitDone waits for the end of the run. Its error is that of ctx, the call's.
func (r *Run) WaitDone(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fault.CallEnded(ctx)
	}
}

// WaitResult returns the result document when the run has ended, nil if there is
// none, and why the run has failed.
func (r *Run) WaitResult(ctx context.Context) (*job.Result, error) {
	if err := r.WaitDone(ctx); err != nil {
		return nil, err
	}
	return r.result, r.failure()
}

// WaitPage returns the page of the run when it has ended, or why there is none.
func (r *Run) WaitPage(ctx context.Context) (*page.Page, error) {
	if err := r.WaitDone(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.page != nil:
		return r.page, nil
	case r.fault != nil:
		return nil, r.fault
	}
	return nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
		"there was no room left to keep the page of the run; ask for fewer edges, write it to a file (report), or raise result_bytes (gladflow serve --max-result-size)")
}

// WaitTables returns the tables of a solver when it has finished, or why there
// will be none.
func (r *Run) WaitTables(ctx context.Context, solver string) (Tables, error) {
	for {
		r.mu.Lock()
		t, ok := r.solved[solver]
		state, f, changed := r.state, r.fault, r.changed
		r.mu.Unlock()
		switch {
		case ok:
			return t, nil
		case state.Ended() && f != nil:
			return nil, f
		case state.Ended():
			return nil, fault.New(codes.NotFound, protocol.ReasonNotFound, "solver %s has left no tables", solver)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fault.CallEnded(ctx)
		}
	}
}

// eventInterval is the time between two events of one stage for a watcher.
const eventInterval = 100 * time.Millisecond

// Events calls f with every event until the run has ended. The last one has the
// final state.
func (r *Run) Events(ctx context.Context, f func(protocol.Event) error) error {
	tick := time.NewTicker(eventInterval)
	defer tick.Stop()
	seen, version := 0, 0
	for {
		r.mu.Lock()
		events := r.events[seen:]
		seen = len(r.events)
		if r.version != version && !r.now.Done {
			events = append(events[:len(events):len(events)], r.now)
		}
		version = r.version
		ended, changed := r.state.Ended(), r.changed
		last := protocol.Event{Run: r.id, State: r.state, Seconds: r.seconds(), Error: r.fault, Labels: r.job.Labels}
		r.mu.Unlock()
		if ended {
			events = append(events[:len(events):len(events)], last)
		}
		for _, e := range events {
			if err := f(e); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return fault.CallEnded(ctx)
		}
	}
}
