package pipelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

// pathGap is the relative gap to which the penalties of the path are solved at
// least: the criterion tells them apart by far more.
const pathGap = 1e-4

// choosePenalty returns the penalty of the job: the matrix, the number, or the
// choice of the extended BIC, made once for all solvers.
func (r *recovery) choosePenalty(ctx context.Context, p solver.Problem) (glasso.Penalty, error) {
	penalty := glasso.Penalty{Matrix: r.penalties, Diagonal: r.job.PenaliseDiagonal}
	if !classical(r.job.Solvers) || penalty.Matrix != nil {
		return penalty, nil
	}
	if rho, ok := r.job.Penalty.Number(); ok {
		penalty.Rho = rho
		r.result.Penalty = &PenaltyResult{From: "job", Rho: Figure(rho)}
		return penalty, nil
	}
	rho, err := r.followPath(ctx, p)
	penalty.Rho = rho
	return penalty, err
}

func (r *recovery) followPath(ctx context.Context, p solver.Problem) (float64, error) {
	report := r.host.stage(Choosing, "")
	const points = 10
	tried := 0
	settings := glasso.PathSettings{
		Settings: glasso.Settings{
			Penalty:        glasso.Penalty{Diagonal: r.job.PenaliseDiagonal},
			Gap:            math.Max(r.job.Gap, pathGap),
			IterationLimit: r.job.IterationLimit,
			Engine:         r.engine,
		},
		Points: points,
		OnPoint: func(pt glasso.PathPoint) {
			tried++
			report.update(float64(tried)/points, fmt.Sprintf("penalty %.3g, %s", pt.Penalty, plural(pt.Edges, "edge")))
		},
	}
	limited, cancel := r.limit(ctx)
	defer cancel()
	path, err := glasso.Path(limited, p, settings)
	out := &PenaltyResult{From: PenaltyEBIC, Rho: notANumber()}
	if path != nil {
		for i, pt := range path.Points {
			point := pathPoint(pt)
			point.Chosen = i == path.Best
			out.Path = append(out.Path, point)
		}
		r.result.Penalty = out
	}
	switch {
	case ctx.Err() != nil:
		return 0, interrupted(ctx)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return 0, err
	case path == nil || len(path.Points) == 0:
		return 0, fmt.Errorf("no penalty was solved within the time limit of %v; raise it, or give the penalty as a number", r.job.TimeLimit)
	}
	out.TimeLimitReached = err != nil
	rho := path.Points[path.Best].Penalty
	out.Rho = Figure(rho)
	if n := len(path.Points); n == points && path.Best == n-1 {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("the penalty chosen, %.4g, is the smallest that was tried; one below it may fit better still", rho))
	}
	report.done("penalty " + strconv.FormatFloat(rho, 'g', 4, 64) + " by the extended BIC")
	return rho, nil
}

// limit is ctx with the job's time limit, if it has one.
func (r *recovery) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.job.TimeLimit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.job.TimeLimit.duration())
}
