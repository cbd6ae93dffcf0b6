package comparison

import (
	"context"
	"errors"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A Host is what Solve takes from its caller.
type Host struct {
	// Stores open files of the job that are URLs. Default (nil): they are refused.
	Stores arrowio.Opener
	// Progress, if set, is called with every update of the runs but those of reading,
	// which the caller has done.
	Progress func(progress.Update)
}

func (h Host) withoutReading() func(progress.Update) {
	if h.Progress == nil {
		return nil
	}
	return func(u progress.Update) {
		if u.Stage != progress.Reading {
			h.Progress(u)
		}
	}
}

// Solved is what one solver has found.
type Solved struct {
	Result job.SolverResult
	Scores *Scores
}

// Solve runs the solvers of a job on a table and calls each with the scores of every
// one as soon as it has finished. Of the job it takes what says how to solve: its
// input, its reference and what is written are not used. Files that the job names,
// such as regulators, are read.
//
// A solver that fails does not stop the others: the Result says so, and Solve returns
// no error for it. An error is that of the whole run: a *job.Error, the end of ctx,
// or that of each; then the Result, if there is one, has the solvers that had
// finished.
func Solve(ctx context.Context, j job.Job, t *Table, h Host, each func(Solved) error) (*job.Result, error) {
	records, err := t.records()
	if err != nil {
		return nil, err
	}
	defer records.Release()
	j.Input, j.InputKind, j.InputFormat, j.Orientation, j.IDColumn = job.Stdin, "", "", "", ""
	j.Reference, j.Population, j.Undirected = "", "", false
	j.Out, j.Edges = "", job.EdgesAll
	var failure error
	result, err := recovery.Run(ctx, j, recovery.Host{
		Files:    table.Files{Records: records, Stores: h.Stores},
		Progress: h.withoutReading(),
		Solved: func(n recovery.Network) error {
			scores, err := scoresOf(n.Tables[recovery.TableEdges], t.Names)
			if err == nil {
				err = each(Solved{n.Result, scores})
			}
			failure = err
			return err
		},
	})
	solving := new(job.SolverError)
	switch {
	case failure != nil:
		return result, job.InterruptedOr(ctx, failure)
	case ctx.Err() != nil, result == nil, !errors.As(err, &solving):
		return result, err
	}
	return result, nil
}

// Runnable returns those of solvers that can run a job as it is, in their order:
// those that need what the job lacks, such as regulators, are left out, and so is
// expression where its model needs them.
func Runnable(solvers []string, j job.Job) []string {
	var can []string
	for _, name := range solvers {
		alone := j
		alone.Input, alone.Solvers = job.Stdin, []string{name}
		if recovery.Validate(alone) == nil && !recovery.LacksRegulators(alone) {
			can = append(can, name)
		}
	}
	return can
}
