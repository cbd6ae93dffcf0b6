package pipelines

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// Run does a job. Everything that can be checked is checked first: what the
// user can put right is a *JobError, returned before a solver starts.
//
// The files of a solver are written as soon as it has finished, run.json last;
// each appears under its name when it is whole. A solver that reaches
// Job.TimeLimit has finished: its best iterate is written, its status says so.
//
// When ctx ends first, Run returns the Result of the solvers that have finished,
// with Partial set, and an error that wraps ctx.Err(); their files and
// run.json stay. The solver at work is listed with the gap it had reached, but
// its iterate is not written, lest it replace a better file of an earlier run.
//
// A solver that fails does not stop the others: Run returns the Result with its
// Error, and that error.
func Run(ctx context.Context, job Job, host Host) (*Result, error) {
	if err := job.Validate(); err != nil {
		return nil, err
	}
	r := &recovery{job: job.Resolved(), host: host, started: time.Now()}
	r.result = &Result{Version: Version, Job: r.job.redacted(), Device: DeviceCPU, Solvers: []SolverResult{}}
	defer r.close()
	problem, err := r.pose(ctx)
	if err != nil {
		r.discardOutput()
		return nil, ended(ctx, err)
	}
	err = r.recover(ctx, problem)
	return r.finish(err)
}

// pose makes the problem, with everything checked on the way.
func (r *recovery) pose(ctx context.Context) (solver.Problem, error) {
	if err := r.prepare(ctx); err != nil {
		return solver.Problem{}, err
	}
	return r.estimate(ctx)
}

// interrupted is the error of a run that its context has ended.
func interrupted(ctx context.Context) error {
	return fmt.Errorf("the run was interrupted: %w", ctx.Err())
}

// ended is interrupted where the context has ended, and err otherwise.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	return err
}

// recover runs the solvers one after the other: they share the cores.
func (r *recovery) recover(ctx context.Context, p solver.Problem) error {
	penalty, err := r.choosePenalty(ctx, p)
	if err != nil {
		return ended(ctx, err)
	}
	var failure error
	for _, name := range r.job.Solvers {
		if ctx.Err() != nil {
			return interrupted(ctx)
		}
		res, err := r.solve(ctx, p, name, penalty)
		r.result.Solvers = append(r.result.Solvers, res)
		switch {
		case err == nil:
		case res.Error == "": // not the solver's: the disk is full, or ctx has ended
			return err
		case failure == nil:
			failure = err
		}
	}
	return failure
}

// solve runs one solver and writes what it found.
func (r *recovery) solve(ctx context.Context, p solver.Problem, name string, penalty glasso.Penalty) (SolverResult, error) {
	report := r.host.stage(Solving, name)
	known := find(name)
	recorder := &gapRecorder{reporter: report}
	s := known.build(building{
		job:      r.job,
		penalty:  penalty,
		model:    r.model,
		engine:   r.engine,
		recorder: recorder,
	})
	limited, cancel := r.limit(ctx)
	defer cancel()
	est, stack, err := attempt(limited, s, p)
	if err != nil && ctx.Err() != nil && stack == nil {
		return failedResult(name, nil, "interrupted"), &SolverError{Solver: name, Iteration: recorder.last(), Err: interrupted(ctx)}
	}
	if err != nil {
		report.done("failed")
		err = &SolverError{Solver: name, Iteration: recorder.last(), Stack: stack, Err: err}
		return failedResult(name, err, "failed"), err
	}
	res := solverResult(name, est)
	if known.Certified {
		res.Penalty = r.result.Penalty.Rho
	} else {
		res.Model = r.model.Name
	}
	if est.Status == solver.Interrupted && ctx.Err() != nil {
		return res, &SolverError{Solver: name, Iteration: est.Iterations, Err: interrupted(ctx)}
	}
	res.TimeLimitReached = est.Status == solver.Interrupted
	if err := est.Status.Err(); err != nil {
		res.Note = err.Error()
	}
	if r.population != nil {
		if res.Metrics, err = score(r.population, est); err != nil {
			return res, err
		}
	}
	if err := r.deliver(est, &res); err != nil {
		return res, err
	}
	report.done(doneText(res))
	return res, nil
}

// attempt is Solve, whose panics are errors with the stack: a defect in one
// solver takes neither the others' results nor the process with it.
func attempt(ctx context.Context, s solver.Solver, p solver.Problem) (est *solver.Estimate, stack []byte, err error) {
	if caught := dense.Catch(func() { est, err = s.Solve(ctx, p) }); caught != nil {
		return nil, caught.Stack, fmt.Errorf("it panicked, which is a defect of gladflow; please report it: %v", caught.Value)
	}
	return est, nil, err
}

func failedResult(name string, err error, status string) SolverResult {
	none := notANumber()
	r := SolverResult{Name: name, Status: status, Objective: none, DualityGap: none,
		RelativeGap: none, KKTResidual: none, Penalty: none, Seconds: none}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// finish writes what belongs to the whole run. A run that has failed or was
// interrupted leaves it too: it tells which files are whole.
func (r *recovery) finish(err error) (*Result, error) {
	r.result.Partial = err != nil
	if e := r.writeMetrics(); e != nil && err == nil {
		err = e
	}
	r.result.Seconds = Figure(time.Since(r.started).Seconds())
	if e := r.writeRun(); e != nil && err == nil {
		err = e
	}
	return r.result, err
}

func (d Duration) duration() time.Duration { return time.Duration(d) }

func notANumber() Figure { return Figure(math.NaN()) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// gapText is what an iteration says for people.
func gapText(it solver.Iteration) string {
	switch {
	case it.Of > 0:
		return fmt.Sprintf("step %d of %d", it.Number, it.Of)
	case it.Gap > 0 && !math.IsInf(it.Gap, 1):
		return fmt.Sprintf("gap %.1e, to %.1e", it.Gap, it.Target)
	}
	return plural(it.Number, "iteration")
}

// doneText is what a solver's result says for people.
func doneText(r SolverResult) string {
	text := fmt.Sprintf("%s after %s, %s", r.StatusText(), plural(r.Iterations, "iteration"), plural(r.Edges, "edge"))
	if g := float64(r.DualityGap); g-g == 0 { // finite
		text += fmt.Sprintf(", duality gap %.1e", g)
	}
	return text
}
