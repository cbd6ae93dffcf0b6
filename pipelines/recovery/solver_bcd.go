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
		// S of a component, W, the factor that becomes Θ, and the estimate; lists of a solution
		// that is not very sparse, and Gram matrices of its columns.
		memory:     func(c solverConfig, d int) int64 { return c.matrices(4+2, d) },
		work:       func(_ solverConfig, t shape) work { return t.lasso(t.neighbours) },
		build:      func(c solverConfig) solver.Solver { return glasso.BCD{Settings: c.settings()} },
		buildParts: func(c solverConfig) partsSolver { return glasso.BCD{Settings: c.settings()} },
	}
}
