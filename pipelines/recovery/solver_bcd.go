package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

func bcdEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "bcd", Title: "block coordinate descent", Minimises: lassoObjective, Certified: true,
			Description: "the graphical lasso, one column at a time; the fastest of the four when the network is sparse",
		},
		takesPenalty: true,
		// W, the coefficients and Θ; for a column that depends on all others the Gram
		// matrix and a factor, with half as much again to grow.
		memory: func(c solverConfig, d int) int64 { return c.matrices(sharedMatrices+3+3, d) },
		build:  func(c solverConfig) solver.Solver { return glasso.BCD{Settings: c.settings()} },
	}
}
