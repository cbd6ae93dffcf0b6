package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

// pathGap is the relative gap to which the penalties of the path are solved at
// least: the criterion tells them apart by far more.
const pathGap = 1e-4

func ebicRule() penaltyRule {
	return penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: ebic, Title: ebicTitle},
		choose:      followPath,
		// BCD, the best estimate and that before, from which it starts: in the units
		// of the block, its factor and its inverse.
		memory: func(c solverConfig, d int) int64 { return bcdEntry().memory(c, d) + 5*matrix(d) },
	}
}

const (
	ebic      = "ebic"
	ebicTitle = "the extended BIC"
)

// followPath chooses the penalty of least extended BIC (γ = 0.5) on a path of ten.
func followPath(ctx context.Context, r *run, p solver.Problem) (float64, error) {
	report := r.stage(progress.Choosing, "")
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
			report.Report(float64(tried)/points, fmt.Sprintf("penalty %.3g, %s", pt.Penalty, progress.Count(pt.Edges, "edge")))
		},
	}
	limited, cancel := r.limit(ctx)
	defer cancel()
	path, err := glasso.Path(limited, p, settings)
	gamma := job.Float(0.5)
	out := &job.PenaltyResult{From: ebic, Rho: job.NaN(), Criterion: ebic, Gamma: &gamma}
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
		return 0, job.Interrupted(ctx)
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		return 0, err
	case path == nil || len(path.Points) == 0:
		return 0, fmt.Errorf("no penalty was solved within the time limit of %v; raise it, or give the penalty as a number", r.job.TimeLimit)
	}
	out.TimeLimitReached = err != nil
	rho := path.Points[path.Best].Penalty
	out.Rho = job.Float(rho)
	out.How = fmt.Sprintf("the least %s (γ = 0.5) of %d penalties", strings.TrimPrefix(ebicTitle, "the "), len(path.Points))
	if n := len(path.Points); n == points && path.Best == n-1 {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("the penalty chosen, %.4g, is the smallest that was tried; one below it may fit better still", rho))
	}
	report.Done("penalty " + strconv.FormatFloat(rho, 'g', 4, 64) + " by " + ebicTitle)
	return rho, nil
}

func pathPoint(p glasso.PathPoint) job.PathPoint {
	return job.PathPoint{
		Penalty:       job.Float(p.Penalty),
		Edges:         job.Float(p.Edges),
		Criterion:     job.Float(p.EBIC),
		LogLikelihood: job.Float(p.LogLikelihood),
		EBIC:          job.Float(p.EBIC),
		Status:        p.Status.String(),
		Iterations:    p.Iterations,
		Gap:           job.Float(p.Gap),
		Seconds:       job.Float(p.Elapsed.Seconds()),

		CriterionError: job.NaN(),
	}
}
