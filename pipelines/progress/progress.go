// Package progress reports how far long work is: a run has stages, and a stage a
// fraction that is done and a few words on what it is doing.
//
//	report := progress.Begin(host.Progress, progress.Reading, "")
//	report.Report(0.5, "150 samples")
//	report.Done("300 samples of 60 variables")
package progress

import (
	"math"
	"strconv"
	"sync"
	"time"
)

// A Stage is a part of a run.
type Stage string

// The stages there are.
const (
	Opening     Stage = "opening the device" // of builds with code for GPUs
	Planning    Stage = "memory"             // of runs that need much of it
	Reading     Stage = "reading"
	Screening   Stage = "screening pairs"     // of tables of so many variables that S is not formed
	Foretelling Stage = "estimating the time" // only where it will take long
	Choosing    Stage = "choosing the penalty"
	Testing     Stage = "testing pairs"
	Solving     Stage = "solving"                       // once for every solver
	Halving     Stage = "solving halves of the samples" // once for every solver
	Simulating  Stage = "simulating"
	Training    Stage = "training"
)

// An Update is one report: many come in a second, one after the other.
type Update struct {
	Stage Stage
	// Solver is the one at work while Solving and Halving.
	Solver string
	// Fraction is how much of the stage is done, from 0 to 1; NaN if unknown.
	// Of a solver that stops at a gap it is that of the way on a logarithmic
	// scale.
	Fraction float64
	// Detail is a few words for people: how many samples, which gap.
	Detail string
	// Left is about how long the stage still takes, as what is done of it says; 0 if unknown,
	// and in its first seconds.
	Left time.Duration
	// Done says that the stage has ended, Elapsed how long it took.
	Done    bool
	Elapsed time.Duration
}

// A Reporter reports the progress of one stage. It is safe for concurrent use.
type Reporter struct {
	mu      sync.Mutex
	tell    func(Update)
	now     Update
	started time.Time
}

// Begin begins a stage and reports it. solver is the one at work while Solving and
// Halving, and empty otherwise. tell is called with every update; nil for none.
func Begin(tell func(Update), s Stage, solver string) *Reporter {
	r := &Reporter{tell: tell, started: time.Now(), now: Update{Stage: s, Solver: solver, Fraction: math.NaN()}}
	r.Report(math.NaN(), "")
	return r
}

// Silent reports whether updates go nowhere: work for them can be saved.
func (r *Reporter) Silent() bool { return r.tell == nil }

// Report reports how much is done. A fraction that is NaN, or less than before, is
// replaced by the one before.
func (r *Reporter) Report(fraction float64, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !(fraction <= r.now.Fraction) && !math.IsNaN(fraction) {
		r.now.Fraction = math.Min(1, fraction)
	}
	r.now.Detail, r.now.Left = detail, 0
	if f, elapsed := r.now.Fraction, time.Since(r.started); f >= leastDone && elapsed >= leastElapsed {
		r.now.Left = time.Duration(float64(elapsed) * (1 - f) / f)
	}
	if r.tell != nil {
		r.tell(r.now)
	}
}

// What has to be done of a stage, and the time that it has to have taken, before there is an
// estimate of what is left.
const (
	leastDone    = 0.02
	leastElapsed = 3 * time.Second
)

// Done ends the stage, with a few words on its result.
func (r *Reporter) Done(detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Detail, r.now.Left, r.now.Done, r.now.Elapsed = detail, 0, true, time.Since(r.started)
	if r.tell != nil {
		r.tell(r.now)
	}
}

// Count is "1 edge" or "5 edges".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Roughly is a time to one figure, in words: "3 minutes".
func Roughly(d time.Duration) string {
	unit, n := "second", math.Max(1, d.Seconds())
	switch {
	case n >= 48*3600:
		unit, n = "day", n/(24*3600)
	case n >= 5400:
		unit, n = "hour", n/3600
	case n >= 90:
		unit, n = "minute", n/60
	}
	digit := math.Pow(10, math.Floor(math.Log10(n)))
	return Count(max(1, int(math.Round(n/digit)*digit)), unit)
}
