package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

func gistaEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "gista", Title: "G-ISTA", Minimises: lassoObjective, Certified: true,
			Description: "proximal gradient with a line search; cheap steps, many of them where S is badly conditioned",
		},
		takesPenalty: true,
		build:        func(c solverConfig) solver.Solver { return glasso.GISTA{Settings: c.settings()} },
	}
}
