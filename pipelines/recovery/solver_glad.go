package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

const gladName = "glad"

// edgeMatrices is what probabilities of edges take: themselves, what an inverse works on,
// and all of them in order.
const edgeMatrices = 3

func gladEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: gladName, Title: "GLAD",
			Description: "learned alternating minimisation; runs a fixed number of steps, takes no penalty and has no certificate",
		},
		takesModel: true,
		onGPU:      true,
		// The scaled S, Θ and Z, those that come next, the support, what is tried for
		// being definite, and the eigendecomposition; U of one kind. Networks are
		// evaluated at a few hundred entries at a time, on every core.
		memory: func(c solverConfig, d int) int64 {
			const networkBytes = 128 << 10
			n := 7 + eigenMatrices
			if c.model.Kind == glad.ADMMu {
				n++
			}
			if c.model.HasEdgeHead() {
				n += edgeMatrices
			}
			return int64(n)*matrix(d) + int64(1+dense.Cores())*int64(1+len(c.model.Cells))*networkBytes + adaptMemory(c, d)
		},
		work: func(c solverConfig, t shape) work {
			return t.eigen().times(float64(1 + c.model.Iterations)).plus(t.pairs(3000))
		},
		build: func(c solverConfig) solver.Solver {
			if c.adapting != nil {
				return c.adapting(c)
			}
			return glad.Solver{Model: c.model, Backend: c.backend(), Recorder: c.recorder}
		},
	}
}
