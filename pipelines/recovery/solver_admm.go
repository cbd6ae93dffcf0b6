package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

func admmEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "admm", Title: "alternating direction method of multipliers", Minimises: lassoObjective, Certified: true,
			Description: "one eigendecomposition a step; slow to a small gap, insensitive to the density of the network",
		},
		takesPenalty: true,
		onGPU:        true,
		// Y, Θ, Z and U, what the dual is tried at, the vectors, and the
		// eigendecomposition. A fixed λ keeps the last pair too.
		memory: func(c solverConfig, d int) int64 {
			n := sharedMatrices + 6 + eigenMatrices
			if c.job.ADMMLambda > 0 {
				n += 2
			}
			return c.matrices(n, d)
		},
		work: func(_ solverConfig, t shape) work { return t.eigen().times(100) },
		build: func(c solverConfig) solver.Solver {
			return glasso.ADMM{Settings: c.gpuSettings(), Lambda: c.job.ADMMLambda}
		},
	}
}
