package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	arrowutil "github.com/apache/arrow/go/v15/arrow/util"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run is a job at work, and its results after it.
type run struct {
	id       string
	job      job.Job // resolved
	accepted time.Time
	cancel   context.CancelCauseFunc
	read     chan struct{} // closed when the samples have been read
	done     chan struct{} // closed when the run has ended
	booked   int64         // memory of results; belongs to the registry
	taken    atomic.Bool   // whether somebody has taken a table

	mu      sync.Mutex
	state   protocol.State
	changed chan struct{} // closed at the next change that waiters wait for
	events  []protocol.Event
	now     protocol.Event // the stage at work
	began   time.Time      // when it began
	version int            // of now
	solved  map[string]tables
	result  *job.Result
	fault   *protocol.Fault
	ended   time.Time
}

// tables are what a solver has found, by name.
type tables map[string]arrow.Record

func newRun(id string, j job.Job, cancel context.CancelCauseFunc) *run {
	return &run{
		id:       id,
		job:      j,
		cancel:   cancel,
		accepted: time.Now(),
		read:     make(chan struct{}),
		done:     make(chan struct{}),
		state:    protocol.StateReceiving,
		changed:  make(chan struct{}),
		solved:   make(map[string]tables),
	}
}

// change makes a change that waiters wait for.
func (r *run) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// progress is the recovery.Host's.
func (r *run) progress(p progress.Update) {
	e := protocol.Event{
		Run:    r.id,
		Stage:  string(p.Stage),
		Solver: p.Solver,
		Detail: p.Detail,
		Done:   p.Done,
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

// keep is the recovery.Host's Solved: it holds the tables of a solver for
// whoever asks for them.
func (s *Service) keep(r *run, n recovery.Network) error {
	found := make(tables)
	var bytes int64
	for name, t := range n.Tables { // the protocol's names are recovery's
		record, err := arrowio.NewRecord(t.Columns, t.Metadata)
		if err != nil {
			return err
		}
		found[name] = record
		bytes += arrowutil.TotalRecordSize(record)
	}
	if err := s.book(r, bytes); err != nil {
		return err
	}
	ended := false
	r.change(func() {
		if ended = r.state.Ended(); !ended {
			r.solved[n.Result.Name] = found
		}
	})
	if ended {
		return errEnded
	}
	return nil
}

// interrupted is the error of a run whose context has ended, as far as its last
// word tells what it was at.
func (r *run) interrupted(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.Solver == "" || r.now.Done {
		return ctx.Err()
	}
	return &job.SolverError{Solver: r.now.Solver, Err: ctx.Err()}
}

// errEnded is what work that goes on after the end of its run is told.
var errEnded = errors.New("the run has ended")

// end notes how the run has ended, and returns how long it took.
func (r *run) end(result *job.Result, f *protocol.Fault) (took time.Duration) {
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

func (r *run) endedAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// info is what is known at once.
func (r *run) info() protocol.RunInfo {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := protocol.RunInfo{Run: r.id, State: r.state, Solvers: r.job.Solvers, Seconds: r.seconds(), Error: r.fault}
	for _, name := range r.job.Solvers {
		t, ok := r.solved[name]
		if !ok {
			continue
		}
		i.Finished = append(i.Finished, name)
		for _, record := range t {
			i.Bytes += arrowutil.TotalRecordSize(record)
		}
	}
	return i
}

// seconds since the run was accepted, or that it took. The caller has the lock.
func (r *run) seconds() float64 {
	if r.state.Ended() {
		return r.ended.Sub(r.accepted).Seconds()
	}
	return time.Since(r.accepted).Seconds()
}

// wait returns the tables of a solver when it has finished, or why there will
// be none.
func (r *run) wait(ctx context.Context, solver string) (tables, error) {
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
			return nil, fault(codes.NotFound, protocol.ReasonNotFound, "solver %s has left no tables", solver)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, callEnded(ctx)
		}
	}
}
