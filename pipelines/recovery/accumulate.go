package recovery

import (
	"context"

	"github.com/gladflow/gladflow/solver/dense"
)

// accumulating is the engine of the CPU, but sums of many products are kept on the GPU.
type accumulating struct {
	dense.Engine
	gpu dense.AccumulatingEngine
}

// Threads is that of the CPU's engine, see dense.Threads.
func (a accumulating) Threads() int { return dense.Threads(a.Engine) }

// Accumulate implements dense.AccumulatingEngine.
func (a accumulating) Accumulate(ctx context.Context, n, rows, known int, sums []float64) (dense.Accumulator, error) {
	return a.gpu.Accumulate(ctx, n, rows, known, sums)
}

// readingEngine is what S is estimated with. With auto it is the CPU's: a run that can go
// on without its GPU cannot if the GPU fails when it has the sums, since samples are
// read once.
func (r *run) readingEngine() dense.Engine {
	if r.place.GPU == nil || r.place.Auto {
		return r.engine
	}
	if e, ok := r.place.GPU.Engine(r.engine).(dense.AccumulatingEngine); ok {
		return accumulating{r.engine, e}
	}
	return r.engine
}
