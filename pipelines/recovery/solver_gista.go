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
		onGPU:        true,
		// Θ and its inverse, here and at the next point, and a factor.
		memory: func(c solverConfig, d int) int64 { return c.matrices(sharedMatrices+5, d) },
		work:   func(_ solverConfig, t shape) work { return t.cubes(300) }, // iterations to 1e-6, each a factor and an inverse
		build:  func(c solverConfig) solver.Solver { return glasso.GISTA{Settings: c.gpuSettings()} },
	}
}
