package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

func amEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "am", Title: "alternating minimisation", Certified: true,
			Minimises:   "-log det Θ + tr(SΘ) + Σ ρij|Zij| + (λ/2)‖Z - Θ‖²",
			Description: "GLAD with constants for its networks; an optimum of its own that tends to the others' as λ grows",
		},
		takesPenalty:    true,
		onGPU:           true,
		objectiveOption: "am_lambda",
		// Θ, Z, the next Θ, Y, the vectors, and the eigendecomposition.
		memory: func(c solverConfig, d int) int64 { return c.matrices(sharedMatrices+5+eigenMatrices, d) },
		work:   func(_ solverConfig, t shape) work { return t.eigen().times(100) },
		build: func(c solverConfig) solver.Solver {
			return glasso.AM{Settings: c.gpuSettings(), Lambda: c.job.AMLambda}
		},
	}
}
