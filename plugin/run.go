package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A Run is a run of a job in a service, see Client.Recover. The service keeps
// its results for a while after its end: see protocol.Limits.
type Run struct {
	client *Client
	id     protocol.Run
	detach func()
}

// cancelTimeout bounds the call that cancels a run whose context has ended.
const cancelTimeout = 5 * time.Second

func newRun(ctx context.Context, c *Client, id protocol.Run) *Run {
	r := &Run{client: c, id: id}
	unbind := context.AfterFunc(ctx, func() {
		if !c.enter() {
			return
		}
		defer c.work.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer cancel()
		// The error has nobody to go to, and the run ends with its service
		// where that cannot be reached.
		_ = r.Cancel(ctx)
	})
	closing := context.AfterFunc(c.alive, func() { unbind() })
	r.detach = sync.OnceFunc(func() {
		unbind()
		closing()
	})
	return r
}

// ID is the run's identifier.
func (r *Run) ID() string { return r.id.Run }

// Progress yields what happens in the run, at most ten times a second, until it
// has ended; the last event has its final state, and in it the error of a run
// that has failed. An error of the call itself is yielded last. Breaking out of
// the loop ends the call and leaves the run alone.
func (r *Run) Progress(ctx context.Context) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		ctx, done, err := r.client.begin(ctx)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		defer done()
		stream, err := r.client.startAction(ctx, protocol.ActionWatch, r.id)
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		for {
			var event protocol.Event
			answer, err := stream.Recv()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				err = r.client.explain(ctx, err)
			default:
				if err = json.Unmarshal(answer.GetBody(), &event); err != nil {
					err = fmt.Errorf("plugin: the service tells of its progress in another way than this host understands: %w", err)
				}
			}
			if err != nil {
				yield(protocol.Event{}, err)
				return
			}
			if event.State.Ended() {
				r.detach()
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

// Edges waits for a solver to finish and returns its ranked edges: source,
// target, score, precision, partial_correlation, sign, the highest score first. Those of a
// solver that ranks pairs are source, target, score, probability if it has one, sign.
// The empty name is the job's first solver.
func (r *Run) Edges(ctx context.Context, solver string) (array.RecordReader, error) {
	return r.table(ctx, protocol.TableEdges, solver)
}

// Precision waits for a solver to finish and returns its precision matrix, as
// the job's field of that name wants it. A solver that ranks pairs has none.
func (r *Run) Precision(ctx context.Context, solver string) (array.RecordReader, error) {
	return r.table(ctx, protocol.TablePrecision, solver)
}

// Metrics waits for a solver to finish and returns the row of its figures. The
// job must name a reference.
func (r *Run) Metrics(ctx context.Context, solver string) (array.RecordReader, error) {
	return r.table(ctx, protocol.TableMetrics, solver)
}

func (r *Run) table(ctx context.Context, table, solver string) (array.RecordReader, error) {
	ticket, err := json.Marshal(protocol.Ticket{Run: r.id.Run, Table: table, Solver: solver})
	if err != nil {
		return nil, fmt.Errorf("plugin: the ticket: %w", err)
	}
	ctx, cancel, err := r.client.beginCause(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := r.client.flights.DoGet(ctx, &flight.Ticket{Ticket: ticket})
	if err != nil {
		err = r.client.explain(ctx, err)
		cancel(nil)
		return nil, err
	}
	return (&download{client: r.client, ctx: ctx, cancel: cancel, stream: stream}).records()
}

// Cancel ends the run. What its solvers had finished can still be had.
func (r *Run) Cancel(ctx context.Context) error {
	_, err := r.client.action(ctx, protocol.ActionCancel, r.id)
	return err
}

// Forget ends the run, if need be, and drops its results.
func (r *Run) Forget(ctx context.Context) error {
	if _, err := r.client.action(ctx, protocol.ActionForget, r.id); err != nil {
		return err
	}
	r.detach()
	return nil
}
