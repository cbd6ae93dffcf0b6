package recovery

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// solve runs one solver and writes what it found. What it returns of a solver that
// has failed has no Error yet.
func (r *run) solve(ctx context.Context, p solver.Problem, name string, penalty glasso.Penalty) (job.SolverResult, error) {
	report := r.stage(progress.Solving, name)
	entry := find(name)
	limited, cancel := r.limit(ctx)
	defer cancel()
	note := r.placeNote(entry)
	found, recorder, stack, err := r.attempt(limited, p, entry, penalty, report)
	if failed := r.ofGPU(err); failed != nil && ctx.Err() == nil {
		stack, err = nil, failed
		if r.place.Auto {
			note = r.leaveGPU(failed)
			if limited.Err() == nil { // or a kernel may still be at work
				r.place.Close()
			}
			report.Report(math.NaN(), note)
			found, recorder, stack, err = r.attempt(limited, p, entry, penalty, report)
		}
	}
	if err != nil && ctx.Err() != nil && stack == nil {
		return failedResult(name, "interrupted"), &job.SolverError{Solver: name, Iteration: recorder.last(), Err: job.Interrupted(ctx)}
	}
	if err != nil {
		report.Done("failed")
		err = &job.SolverError{Solver: name, Iteration: recorder.last(), Stack: stack, Err: err}
		return failedResult(name, "failed"), err
	}
	if err := r.likely(ctx, entry, p, found); err != nil {
		report.Done("failed")
		return failedResult(name, "failed"), job.InterruptedOr(ctx, &job.SolverError{Solver: name, Err: err})
	}
	found.more = r.tested()
	res := r.solverResult(entry, found)
	if entry.takesPenalty {
		res.Penalty = r.result.Penalty.Rho
	}
	if entry.takesModel {
		res.Model = r.model.Name
	}
	if found.adapted != nil && found.adapted.By != "" {
		res.Adapted = found.adapted
	}
	if entry.takesRankingModel {
		res.Model = r.rankingModel.Name
	}
	if est := found.estimate; est != nil {
		if est.Status == solver.Interrupted && ctx.Err() != nil {
			return res, &job.SolverError{Solver: name, Iteration: est.Iterations, Err: job.Interrupted(ctx)}
		}
		res.TimeLimitReached = est.Status == solver.Interrupted
		if err := est.Status.Err(); err != nil {
			note = joined(err.Error(), note)
		}
	}
	res.Note = note
	if est := found.estimate; est != nil && r.regulators != nil {
		// Not within the time limit: an iterate that was interrupted is ranked too.
		c := rankingConfig{solverConfig: r.configuration(penalty, recorder), problem: p}
		if found.ranking, err = r.regulate(ctx, entry, est, c); err != nil {
			report.Done("failed")
			return res, job.InterruptedOr(ctx, &job.SolverError{Solver: name, Iteration: est.Iterations, Err: err})
		}
	}
	if found.estimate != nil {
		edges := found.estimate.Edges()
		r.warnOfGraph(entry, edges)
		r.warnOfLikely(entry, found, edges)
	}
	if res.Stability, err = r.stabilise(ctx, entry, found, penalty); err != nil {
		report.Done("failed")
		return res, job.InterruptedOr(ctx, &job.SolverError{Solver: name, Err: err})
	}
	if s := res.Stability; s != nil && found.kept != nil {
		r.countKept(entry, found, &res)
	}
	if err := r.conclude(entry, found, recorder, &res); err != nil {
		report.Done("failed")
		return res, err
	}
	report.Done(doneText(res))
	return res, nil
}

// conclude scores what a solver has found, and delivers it.
func (r *run) conclude(entry solverEntry, found *finding, recorder *gapRecorder, res *job.SolverResult) error {
	var scored metric.Scored
	if r.population != nil {
		var err error
		table := metric.Table()
		if found.ranking != nil {
			table = metric.OfRankings()
			scored, err = evaluation.ScoreRanking(r.population, found.ranking.scorer(len(r.table.Names), r.population.Undirected))
		} else {
			scored, err = evaluation.Score(r.population, found.estimate)
		}
		if err != nil {
			return err
		}
		res.Metrics = evaluation.Metrics(table, scored)
	}
	links, score := r.links(found)
	res.Network = networkResult(links, r.table.Names)
	res.Course = recorder.history.course()
	if r.population != nil {
		res.Curves = curvesResult(scored.Ranking.Curves())
	}
	if r.page != nil {
		r.page.add(*res, links, score, r.blockNames())
	}
	return r.deliver(entry, found, res)
}

// A finding is what a solver has found: an estimate, or a ranking, or where regulators
// are known an estimate of their block and the ranking that follows from it.
type finding struct {
	estimate *solver.Estimate
	adapted  *job.AdaptedResult // nil unless it was fitted to the table
	ranking  *ranking
	// probability is that of an edge, also where pairs are not ranked by it; nil without one.
	probability *dense.Sym
	// score is what pairs are ranked by, and expectedFalse the share of false edges that is
	// expected in the support; nil without a probability.
	score         string
	expectedFalse *job.Float
	// more says how sure edges are, besides their probability.
	more []pairColumn
	// kept says which pairs may be listed as edges; nil where all may.
	kept func(i, j int) bool
}

// panicked says nothing of the panic: its value is for the log, like its stack.
type panicked struct {
	// err is the value, if that is an error: a kernel of a dense.Engine has no other way
	// to say that the GPU has failed.
	err error
}

func (panicked) Error() string {
	return "it panicked, which is a defect of gladflow; please report it with the stack, which is in the service's log or on the command line's standard error"
}

// attempt builds the solver and runs it, where the run computes now.
func (r *run) attempt(ctx context.Context, p solver.Problem, entry solverEntry, penalty glasso.Penalty, report *progress.Reporter) (*finding, *gapRecorder, []byte, error) {
	recorder := &gapRecorder{Reporter: report}
	found := new(finding)
	var stack []byte
	var err error
	if c := r.configuration(penalty, recorder); entry.Ranking {
		found.ranking, stack, err = r.attemptRanking(ctx, p, entry, c)
	} else {
		if entry.takesModel && r.job.Adapt != "" {
			c.adapting = func(c solverConfig) solver.Solver {
				a := &adapting{solverConfig: c, standardised: r.table.Standardised(), result: new(job.AdaptedResult), report: report.Report}
				if found.adapted = a.result; holdsOut(r.job) {
					a.samples = r.samples
				}
				return a
			}
		}
		if r.columns == nil {
			found.estimate, stack, err = attempt(ctx, entry.build(c), r.block(p))
		} else {
			found.estimate, stack, err = attempt(ctx, ofParts{entry.buildParts(c), r.columns, r.components}, p)
		}
	}
	return found, recorder, stack, err
}

// joined are two notes in one; either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// attempt is Solve, whose panics are errors with the value and the stack: a defect in
// one solver takes neither the others' results nor the process with it.
func attempt(ctx context.Context, s solver.Solver, p solver.Problem) (est *solver.Estimate, stack []byte, err error) {
	if caught := dense.Catch(func() { est, err = s.Solve(ctx, p) }); caught != nil {
		return nil, []byte(caught.Error()), panicked{caught.Unwrap()}
	}
	return est, nil, err
}

func (r *run) solverResult(entry solverEntry, found *finding) job.SolverResult {
	if entry.Ranking {
		res := failedResult(entry.Name, solver.Completed.String())
		res.Ranking, res.Seconds = true, job.Float(found.ranking.elapsed.Seconds())
		res.Edges = r.rankedEdges(entry, found.ranking, nil)
		return res
	}
	est := found.estimate
	edges := est.Edges()
	if r.regulators != nil {
		edges = int(r.tableSize(entry, 0, 0).edges)
	}
	return job.SolverResult{
		Name:        entry.Name,
		Status:      est.Status.String(),
		Iterations:  est.Iterations,
		Objective:   job.Float(est.Objective),
		DualityGap:  job.Float(est.DualityGap),
		RelativeGap: job.Float(est.RelativeGap()),
		KKTResidual: job.Float(est.KKTResidual),
		Penalty:     job.NaN(),
		Edges:       edges,
		Seconds:     job.Float(est.Elapsed.Seconds()),

		Score: found.score, ExpectedFalse: found.expectedFalse,
	}
}

func failedResult(name, status string) job.SolverResult {
	none := job.NaN()
	return job.SolverResult{Name: name, Status: status, Objective: none, DualityGap: none,
		RelativeGap: none, KKTResidual: none, Penalty: none, Seconds: none}
}

// doneText is what a solver's result says for people.
func doneText(r job.SolverResult) string {
	if r.Ranking {
		return fmt.Sprintf("%s, %s", r.StatusText(), progress.Count(r.Edges, "pair"))
	}
	text := fmt.Sprintf("%s after %s, %s", r.StatusText(), progress.Count(r.Iterations, "iteration"), progress.Count(r.Edges, "edge"))
	if r.DualityGap.IsFinite() {
		text += fmt.Sprintf(", duality gap %.1e", float64(r.DualityGap))
	}
	return text
}
