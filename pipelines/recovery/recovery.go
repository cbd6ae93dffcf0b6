// Package recovery runs whole jobs: a job.Job says what is to be recovered from
// which table and how, and Run does it, from the file with the samples to the
// files with the network, its certificate and its score.
//
//	j := job.Job{Input: "expression.parquet", Out: "network"}
//	result, err := recovery.Run(ctx, j, recovery.Host{})
//	if err != nil {
//		return err // a *job.Error is the user's to put right
//	}
//	for _, s := range result.Solvers {
//		fmt.Println(s.Name, s.Status, s.Edges)
//	}
//
// The command line, the plugin and batches all fill the same document. Solvers,
// rules for the penalty and outputs are lists: each is a file of its own, and a
// line in solvers.go, penalty.go or outputs.go.
//
// The package prints nothing, logs nothing and starts no process: it reports
// progress to the Host and returns a job.Result.
package recovery

import (
	"context"
	"errors"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/inference"
)

// A Host is what a run takes from its caller. The zero value reads the files of
// this machine and reports no progress.
type Host struct {
	// Files are what the tables of the job are read through, and Root what its model
	// is read from and its folder written to.
	table.Files
	// Solved, if set, is given the tables of every solver that has finished,
	// as soon as it has; an error stops the run. It may keep them.
	Solved func(Network) error
	// Reported, if set, is given the page of the run at its end, also of one that has failed
	// or was interrupted, and may keep it. It is made whether or not the job asks for a file
	// of it.
	Reported func(page.Page)
	// Progress, if set, is called with every update: many times a second, one
	// call after the other.
	Progress func(progress.Update)
	// Memory, if set, is asked for memory before the run takes it: see the
	// type. Default (nil): there is no bound.
	Memory Memory

	wideFrom, smallComponent int // of tests, in place of wideVariables and smallComponent
}

// Run does a job. Everything that can be checked is checked first: what the
// user can put right is a *job.Error, returned before a solver starts.
//
// The files of a solver are written as soon as it has finished, run.json last;
// each appears under its name when it is whole. A solver that reaches
// Job.TimeLimit has finished: its best iterate is written, its status says so.
//
// When ctx ends first, Run returns the Result of the solvers that have finished,
// with Partial set, and an error that wraps ctx.Err(); their files and
// run.json stay. The solver at work is listed with the gap it had reached, but
// its iterate is not written: it would replace a better file of an earlier run.
//
// A run for which there is no memory ends with the error of Host.Memory: before its
// table is read where that is known, else before what needs the memory.
//
// A solver that fails, or whose files cannot be written, does not stop the others:
// Run returns the Result with its Error, and that error. run.json says the same, if
// it can be written; see DocumentError. Files of an earlier run stay where this one
// has not come to replace them: those of this run are the ones that run.json lists.
//
// Runs of one process that compute on the same GPU share it. One that cannot be used is a
// *job.Error that wraps a *job.DeviceError, found before the samples are read; with
// job.DeviceAuto the run goes on with the CPU, then or when the GPU fails in a solver, and
// the Result says why.
func Run(ctx context.Context, j job.Job, host Host) (*job.Result, error) {
	if err := Validate(j); err != nil {
		return nil, err
	}
	return runOn(ctx, j, host, device.Process())
}

// runOn is Run with the GPUs that there are; nil for a build without code for any.
func runOn(ctx context.Context, j job.Job, host Host, gpus *device.Pool) (*job.Result, error) {
	r := newRun(j, host)
	r.gpus = gpus
	var kernels dense.Background
	ctx = dense.WithBackground(ctx, &kernels)
	defer r.memory.release(&kernels)
	defer r.closeDevice(&kernels)
	defer r.close()
	problem, err := r.problem(ctx)
	if err != nil {
		r.page.discard()
		r.folder.Discard()
		return nil, job.InterruptedOr(ctx, err)
	}
	err = r.recover(ctx, problem)
	return r.finish(ctx, err)
}

// run is one run of a job.
type run struct {
	job     job.Job // resolved
	asked   job.Job
	host    Host
	started time.Time

	gpus         *device.Pool // nil without code for GPUs
	place        device.Place
	engine       dense.Engine
	model        *glad.Model        // nil unless a solver takes one
	rankingModel *learned.Model     // the same
	population   *metric.Population // nil without a reference
	penalties    *dense.Sym         // nil without a penalty matrix
	table        *table.Table
	columns      *covariance.Columns   // nil unless S is not formed
	components   [][]int               // of S then, once they are known
	samples      []float64             // nil unless a solver uses them
	tests        *inference.Tests      // nil without tests of pairs
	resampler    *covariance.Resampler // nil where nothing is estimated from some of the samples
	regulators   []int                 // ascending; nil where edges are undirected
	folder       *output.Folder        // nil without one
	page         *reportPage           // nil without one
	result       *job.Result
	memory       reservation
}

func newRun(j job.Job, host Host) *run {
	r := &run{job: Resolved(j), asked: j, host: host, started: time.Now(), memory: reservation{from: host.Memory}}
	if host.Memory != nil {
		r.host.Limits.Reserve, r.host.Keep = r.memory.hold, r.memory.keep
	}
	recorded := r.job
	job.Redact(&recorded, arrowio.Redacted)
	r.result = &job.Result{Version: job.Version(), Job: recorded, Device: job.DeviceCPU, Solvers: []job.SolverResult{}}
	return r
}

func (r *run) stage(s progress.Stage, solver string) *progress.Reporter {
	return progress.Begin(r.host.Progress, s, solver)
}

// problem reads the table, with everything else checked on the way.
func (r *run) problem(ctx context.Context) (solver.Problem, error) {
	if err := r.prepare(ctx); err != nil {
		return solver.Problem{}, err
	}
	engine := r.readingEngine()
	if r.table.KeepColumns {
		engine = r.engine
	}
	data, err := r.table.Estimate(ctx, engine, r.stage(progress.Reading, ""))
	if failed := r.ofGPU(err); failed != nil && ctx.Err() == nil {
		return solver.Problem{}, failed
	}
	if err != nil {
		return solver.Problem{}, err
	}
	r.samples, r.resampler, r.columns = data.Samples, data.Resampler, data.Columns
	kept := int64(cap(r.samples))
	if r.resampler != nil {
		kept = max(kept, int64(cap(r.resampler.Rows)))
	}
	if r.table.KeepColumns && r.columns == nil { // there are more samples than variables
		r.table.KeepColumns, r.memory.tables = false, 0
		if err := r.admitSolvers(); err != nil {
			return solver.Problem{}, err
		}
	}
	if r.columns != nil {
		kept = int64(len(data.Names)) * int64(data.Problem.Samples)
	}
	r.memory.read(8 * kept)
	r.result.Input = job.InputResult{
		Path:      r.result.Job.Input,
		Kind:      r.job.InputKind,
		Streamed:  r.host.Records != nil,
		SHA256:    data.SHA256,
		Samples:   data.Problem.Samples,
		Variables: len(data.Names),
		Shrinkage: data.Shrinkage,
	}
	r.describeTable(data)
	r.result.Variables = data.Names
	r.result.StandardDeviations = data.StandardDeviations
	r.result.Warnings = append(r.result.Warnings, data.Warnings...)
	r.warnOfTails(data)
	if err := r.warnOfSame(ctx, data); err != nil {
		return solver.Problem{}, err
	}
	r.warnOfUnits(data)
	r.warnOfPenalty()
	r.warnOfModel()
	r.warnOfFilledIn(data)
	if err := r.checkAdaptingTo(data.Problem.Samples); err != nil {
		return solver.Problem{}, err
	}
	if err := r.checkStability(); err != nil {
		return solver.Problem{}, err
	}
	return data.Problem, r.admitSamples()
}

// recover runs the solvers one after the other: they share the cores.
func (r *run) recover(ctx context.Context, p solver.Problem) error {
	r.foretell(ctx, p)
	penalty, err := r.choosePenalty(ctx, r.block(p), penaltyRules())
	if r.job.Stability == 0 {
		r.resampler = nil // its samples are needed no more
	}
	if err != nil {
		return job.InterruptedOr(ctx, err)
	}
	if err := r.screen(ctx, penalty); err != nil {
		return job.InterruptedOr(ctx, err)
	}
	if err := r.test(ctx, p); err != nil {
		return job.InterruptedOr(ctx, err)
	}
	// The first of all, with the panics after it, and of those that are no solver's.
	var failure, writing error
	for _, name := range r.job.Solvers {
		if ctx.Err() != nil {
			return withPanics(unwritten(ctx, job.Interrupted(ctx), writing), failure)
		}
		res, err := r.solve(ctx, p, name, penalty)
		if err != nil && !interrupted(ctx, err) {
			res.Error = job.ErrorText(err, job.FieldOption)
		}
		r.result.Solvers = append(r.result.Solvers, res)
		if interrupted(ctx, err) {
			return withPanics(unwritten(ctx, err, writing), failure)
		}
		if failure == nil || job.Stack(err) != nil {
			failure = besides(failure, err)
		}
		if solving := new(job.SolverError); writing == nil && !errors.As(err, &solving) {
			writing = err
		}
		if refused := new(refusal); errors.As(err, refused) {
			break
		}
	}
	return failure
}

// limit is ctx with the job's time limit, if it has one.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.job.TimeLimit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(r.job.TimeLimit))
}

// finish writes what belongs to the whole run, also of one that has failed or was
// interrupted. run.json comes last: it lists the files that the run has written.
func (r *run) finish(ctx context.Context, err error) (*job.Result, error) {
	err = unwritten(ctx, err, r.writeMetrics())
	r.result.Seconds = job.Float(time.Since(r.started).Seconds())
	r.fail(ctx, err)
	if e := r.writeReport(); e != nil {
		err = unwritten(ctx, err, e)
		r.fail(ctx, err)
	}
	if r.folder == nil {
		return r.result, err
	}
	if e := r.folder.WriteJSON(job.RunFile, r.result); e != nil {
		err = unwritten(ctx, err, &DocumentError{e})
		r.fail(ctx, err)
	}
	return r.result, err
}

func (r *run) close() {
	r.table.Close()
	r.page.close()
	r.folder.Close()
}
