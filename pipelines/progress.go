package pipelines

import (
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
)

// A Host is what a run takes from whoever starts it. Its zero value reads the
// process's standard input and hears nothing.
type Host struct {
	// Stdin is read for the path "-". Default (nil): the process's.
	Stdin io.Reader
	// Records, if set, are the table of the input "-", in place of Stdin. Run
	// reads them to their end, before the stage Reading is done, and does not
	// release them.
	Records array.RecordReader
	// Stores open inputs that are URLs, such as store.All(); nil: they are
	// refused.
	Stores arrowio.Opener
	// MostVariables bounds the number of variables; 0 for none. A table of
	// more is a JobError that wraps arrowio.ErrTooManyVariables.
	MostVariables int
	// Solved, if set, is given the tables of every solver that has finished,
	// as soon as it has; an error stops the run. It may keep them.
	Solved func(Network) error
	// Progress, if set, is told what goes on, many times a second and never
	// twice at once.
	Progress func(Progress)
}

// A Stage is a part of a run.
type Stage string

// The stages, in their order; Solving once for every solver.
const (
	Reading  Stage = "reading"
	Choosing Stage = "choosing the penalty"
	Solving  Stage = "solving"
)

// Progress is what a Host is told.
type Progress struct {
	Stage Stage
	// Solver is the one at work while Solving.
	Solver string
	// Fraction is how much of the stage is done, from 0 to 1; NaN if unknown.
	// Of a solver that stops at a gap it is that of the way on a logarithmic
	// scale.
	Fraction float64
	// Detail is a few words for people: how many samples, which gap.
	Detail string
	// Done says that the stage has ended, Elapsed how long it took.
	Done    bool
	Elapsed time.Duration
}

// reporter tells a host of the progress of one stage.
type reporter struct {
	mu      sync.Mutex
	tell    func(Progress)
	now     Progress
	started time.Time
}

func (h Host) stage(s Stage, name string) *reporter {
	r := &reporter{tell: h.Progress, started: time.Now()}
	r.now = Progress{Stage: s, Solver: name, Fraction: math.NaN()}
	r.update(math.NaN(), "")
	return r
}

// update reports a fraction, which never falls, NaN for none.
func (r *reporter) update(fraction float64, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !(fraction <= r.now.Fraction) && !math.IsNaN(fraction) {
		r.now.Fraction = math.Min(1, fraction)
	}
	r.now.Detail = detail
	if r.tell != nil {
		r.tell(r.now)
	}
}

func (r *reporter) done(detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Detail, r.now.Done, r.now.Elapsed = detail, true, time.Since(r.started)
	if r.tell != nil {
		r.tell(r.now)
	}
}

// gapRecorder turns iterations into a fraction: of the number of steps where
// that is known, of the way from the first gap to the target otherwise.
type gapRecorder struct {
	*reporter
	mu    sync.Mutex
	first float64 // 0 until a gap is known

	iteration atomic.Int64
}

// last is the number of the last iteration.
func (g *gapRecorder) last() int { return int(g.iteration.Load()) }

// Record implements solver.Recorder.
func (g *gapRecorder) Record(it solver.Iteration) {
	g.iteration.Store(int64(it.Number))
	if g.tell == nil {
		return
	}
	g.update(g.fraction(it), gapText(it))
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

// counted is a source of samples that reports how many have been read.
type counted struct {
	covariance.Source
	report  *reporter
	samples int
}

// Next implements covariance.Source.
func (c *counted) Next() ([]float64, int, error) {
	rows, n, err := c.Source.Next()
	c.samples += n
	c.report.update(math.NaN(), plural(c.samples, "sample"))
	return rows, n, err
}
