package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// A Request is a run to be started.
type Request struct {
	// Caller is who starts it.
	Caller Caller
	Job    job.Job // valid
	// Open opens samples that the call streams, and Upload is their memory; nil if
	// the job names a file. The context is the run's.
	Open   func(context.Context, batch.Limits) (array.RecordReader, error)
	Upload *Upload
	// Work does what is no recovery, such as a look at the table. Such a run has no solvers
	// and leaves nothing. nil: the job is done.
	Work func(context.Context, recovery.Host) error
	// Detached runs go on after the end of their call, and are kept after their
	// own end. Others end with the call and are gone then.
	Detached bool
}

// Start starts a run, or returns a fault that says why it is refused. ctx is the
// call's. The caller must cancel a run that is not detached when it has done with it.
func (g *Registry) Start(ctx context.Context, q Request) (*Run, error) {
	r := g.newRun(ctx, q)
	if err := g.acquire(r); err != nil {
		r.cancel(nil)
		return nil, err
	}
	if q.Upload != nil {
		q.Upload.handOver()
	}
	go g.execute(atWork{r.ctx, ctx}, r, q)
	return r, nil
}

// atWork is the context of a run, with the values of the call that has started it,
// among them its trace.
type atWork struct {
	context.Context
	call context.Context
}

// Value implements context.Context.
func (c atWork) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.call.Value(key)
}

// execute does the work of a run and ends it.
func (g *Registry) execute(ctx context.Context, r *Run, q Request) {
	defer g.work.Done()
	defer r.cancel(nil)
	ctx = g.Observer.RunStarted(ctx, Started{Run: r.id, Caller: r.caller, Solvers: r.job.Solvers, Labels: r.job.Labels})
	g.Logger.Info("run started", append(r.named(), "solvers", r.job.Solvers, "input", fault.Logged(arrowio.Redacted(r.job.Input)))...)
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		var shown *page.Page
		o.err = fault.Catch(g.Logger, func() (err error) {
			o.result, err = g.perform(ctx, r, q, func(p page.Page) {
				p = p.Trim()
				shown = &p
			})
			return err
		})
		if err := g.keepDocument(r, o.result); err != nil {
			o.result, o.err = nil, cmp.Or(o.err, err)
		} else if q.Detached {
			g.keepPage(r, shown)
		}
		done <- o
	}()
	o := r.await(done)
	f := fault.Of(ctx, o.err)
	if f != nil {
		f.Run = r.id
	}
	took := g.finish(r, o, f, q.Detached)
	g.logEnd(r, o.err)
	g.Observer.RunEnded(ctx, r.Info().State, took, f)
	if o.abandoned {
		<-done
		g.release(r)
	}
}

// An outcome is what Work has returned, or that it has not yet.
type outcome struct {
	result    *job.Result
	err       error
	abandoned bool
}

// graceTime is how long a run that was cancelled may take to end in order.
const graceTime = 100 * time.Millisecond

// await returns the outcome of a run's work. If the run is cancelled and its work
// does not return within graceTime, it is abandoned: work inside a kernel of
// linear algebra, which may take a second, returns in the background, and what it
// still reports is dropped. The run keeps its slot until then.
func (r *Run) await(done <-chan outcome) outcome {
	select {
	case o := <-done:
		return o
	case <-r.ctx.Done():
	}
	select {
	case o := <-done:
		return o
	case <-time.After(graceTime):
		return outcome{err: r.interrupted(), abandoned: true}
	}
}

// perform calls Work with what a run of the service gives it.
func (g *Registry) perform(ctx context.Context, r *Run, q Request, reported func(page.Page)) (*job.Result, error) {
	host := recovery.Host{
		Files: table.Files{Stdin: strings.NewReader(""), Root: g.Root, Stores: g.Stores, MostVariables: g.Limits.Variables, Limits: TableLimits(g.Limits)},
		Progress: func(p progress.Update) {
			r.progress(p)
			if p.Done && p.Stage == progress.Reading && q.Upload != nil {
				q.Upload.giveBack()
			}
			if p.Done {
				g.Observer.StageDone(ctx, p)
			}
		},
		Solved: func(n recovery.Network) error { return g.keepTables(r, n) },
		Memory: share{g, r.caller},
	}
	if q.Detached {
		host.Reported = reported
	}
	if q.Upload != nil {
		defer q.Upload.giveBack()
		records, err := q.Open(ctx, q.Upload.Limits())
		if err != nil {
			return nil, AsInput(err)
		}
		defer records.Release()
		host.Records = records
	}
	if q.Work != nil {
		return nil, q.Work(ctx, host)
	}
	return g.Work(ctx, r.job, host)
}

// TableLimits are those of a run's tables: what they unpack to counts as the size
// of an upload, and a batch by the size of the message that could bring it.
func TableLimits(l protocol.Limits) batch.Limits {
	return batch.Limits{Batch: protocol.UnpackFactor * int64(l.MessageBytes), Table: l.UploadBytes}
}

// AsInput makes an error of the stream of samples one of the job's input.
func AsInput(err error) error {
	var input *arrowio.InputError
	var corrupt *batch.CorruptError
	switch {
	case errors.As(err, &input):
		return &job.Error{Field: "input", Err: input}
	case errors.As(err, &corrupt):
		return &job.Error{Field: "input", Err: corrupt}
	}
	return err
}

// named says in a line of the log which run it is about. The prefix of labels keeps
// them apart from what else the line says.
func (r *Run) named() []any {
	args := []any{"run", r.id}
	if r.caller != "" {
		args = append(args, "caller", fault.Logged(string(r.caller)))
	}
	for _, key := range slices.Sorted(maps.Keys(r.job.Labels)) {
		args = append(args, "label."+key, fault.Logged(r.job.Labels[key]))
	}
	return args
}

func (g *Registry) logEnd(r *Run, err error) {
	info := r.Info()
	args := append(r.named(), "state", string(info.State), "seconds", fmt.Sprintf("%.3f", info.Seconds))
	f := info.Error
	if f == nil {
		g.Logger.Info("run ended", args...)
		return
	}
	args = append(args, "code", f.Code, "error", fault.Logged(f.Message))
	if stack := fault.Stack(err); stack != nil {
		args = append(args, "stack", string(stack))
	}
	if f.StatusCode() == codes.Internal {
		g.Logger.Error("run ended", args...)
		return
	}
	g.Logger.Warn("run ended", args...)
}
