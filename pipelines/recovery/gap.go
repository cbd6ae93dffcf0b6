package recovery

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
)

// gapRecorder turns iterations into a fraction: of the number of steps where
// that is known, of the way from the first gap to the target otherwise.
type gapRecorder struct {
	*progress.Reporter
	mu    sync.Mutex
	first float64 // 0 until a gap is known

	iteration atomic.Int64
	history   history
}

// last is the number of the last iteration.
func (g *gapRecorder) last() int { return int(g.iteration.Load()) }

// Record implements solver.Recorder.
func (g *gapRecorder) Record(it solver.Iteration) {
	g.iteration.Store(int64(it.Number))
	g.mu.Lock()
	g.history.add(it)
	g.mu.Unlock()
	if !g.Silent() {
		g.Report(g.fraction(it), gapText(it))
	}
}

func (g *gapRecorder) fraction(it solver.Iteration) float64 {
	if it.Of > 0 {
		return float64(it.Number) / float64(it.Of)
	}
	if !(it.Gap > 0) || math.IsInf(it.Gap, 1) || !(it.Target > 0) {
		return math.NaN()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == 0 {
		g.first = it.Gap
	}
	if it.Gap <= it.Target {
		return 1
	}
	return math.Max(0, math.Log(g.first/it.Gap)/math.Log(g.first/it.Target))
}

// gapText is what an iteration says for people.
func gapText(it solver.Iteration) string {
	switch {
	case it.Of > 0:
		return fmt.Sprintf("step %d of %d", it.Number, it.Of)
	case it.Gap > 0 && !math.IsInf(it.Gap, 1):
		return fmt.Sprintf("gap %.1e, to %.1e", it.Gap, it.Target)
	}
	return progress.Count(it.Number, "iteration")
}
