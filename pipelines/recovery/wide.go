package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glasso"
)

// wideVariables is the number of variables from which on S is not formed where a run can do
// without it.
const wideVariables = 4000

// smallComponent is the size of components that advice on a penalty aims at.
const smallComponent = 2000

// wide says that the run forms S of connected components only: there are many variables and
// no more samples, and nothing that the job asks for needs all of S, or Θ as a matrix.
func (r *run) wide() bool {
	_, number := r.job.Penalty.Number()
	_, edges := r.job.EdgesWanted()
	return r.wideBut() && (number || edges)
}

// wideBut is wide, but for the penalty.
func (r *run) wideBut() bool {
	j := r.job
	return len(r.table.Names) >= cmp.Or(r.host.wideFrom, wideVariables) && r.table.HoldsColumns() && r.regulators == nil && r.penalties == nil &&
		!anySolver(j.Solvers, func(s solverEntry) bool { return s.buildParts == nil }) &&
		j.Edges == job.EdgesSupport && j.Precision != job.PrecisionDense && !j.TestsPairs() && j.Stability == 0 && !r.table.KeepSamples
}

// admitWide is admit of a wide table: of what its components take nothing is known yet.
func (r *run) admitWide() error {
	r.table.KeepColumns = true
	m, d := &r.memory, len(r.table.Names)
	m.peak, m.what = max(r.table.Memory(), covariance.ScreenMemory(d, threadsOf(r.configuration(glasso.Penalty{}, nil)))), fmt.Sprintf("%d variables", d)
	for _, name := range r.job.Solvers {
		if r.delivers() {
			m.tables += r.keptMemory(r.tableSize(find(name), 0, 0))
		}
	}
	return m.raise(m.peak, m.what)
}

// A partsSolver solves a problem of which only parts are ever held.
type partsSolver interface {
	SolveParts(ctx context.Context, p glasso.Parts, components [][]int) (*solver.Estimate, error)
}

// ofParts is a partsSolver of one problem.
type ofParts struct {
	partsSolver
	parts      glasso.Parts
	components [][]int
}

// Solve implements solver.Solver.
func (s ofParts) Solve(ctx context.Context, _ solver.Problem) (*solver.Estimate, error) {
	return s.SolveParts(ctx, s.parts, s.components)
}

// screen finds the components that the penalty leaves of a wide table, and reserves for their
// solution.
func (r *run) screen(ctx context.Context, penalty glasso.Penalty) error {
	if r.columns == nil {
		return nil
	}
	report := r.stage(progress.Screening, "")
	found, err := r.columns.Screen(ctx, penalty.Rho, sameVariable, func(done float64) {
		report.Report(done, "products of pairs")
	})
	if err != nil {
		return err
	}
	r.components = found.Components
	r.warnOfRepeats(found.Repeats)
	most := len(r.components[0])
	report.Done(fmt.Sprintf("%d pairs above the penalty, %s, the largest of %s",
		found.Above, progress.Count(len(r.components), "component"), progress.Count(most, "variable")))
	err = r.memory.raise(r.componentsMemory(r.components, penalty), fmt.Sprintf("a component of %d variables that the penalty leaves together", most))
	return r.told(r.advised(ctx, err, "give a larger penalty"))
}

// admitComponents reserves for components that are solved to count their edges.
func (r *run) admitComponents(components [][]int) error {
	err := r.memory.raise(r.componentsMemory(components, glasso.Penalty{}), fmt.Sprintf("a component of %d variables, which so many edges join", len(components[0])))
	if none := new(memory.Error); errors.As(err, &none) {
		none.Advice = "ask for fewer edges"
		return none
	}
	return err
}

// componentsMemory is what it takes to solve components, as many at a time as there are
// threads.
func (r *run) componentsMemory(components [][]int, penalty glasso.Penalty) int64 {
	c := r.configuration(penalty, nil)
	var bytes int64
	for _, idx := range components[:min(len(components), threadsOf(c))] {
		n := len(idx)
		bytes += bcdEntry().memory(c, n) + matrix(n) + 8*int64(n)*int64(r.result.Input.Samples)
	}
	return bytes
}

// advised is err, and where that says that there is no room, with the penalty for which there
// is.
func (r *run) advised(ctx context.Context, err error, advice string) error {
	none := new(memory.Error)
	if !errors.As(err, &none) {
		return err
	}
	rho, most, err := r.penaltyFor(ctx, cmp.Or(r.host.smallComponent, smallComponent))
	if err != nil {
		return err
	}
	none.Advice = fmt.Sprintf("%s, such as %.4g, which leaves no component of more than %s", advice, rho, progress.Count(most, "variable"))
	return none
}

// advisedWide is err, and where that says that there is no room for all of S, how the run can
// do without it. It reads the table for that where the penalty is all that is in the way.
func (r *run) advisedWide(ctx context.Context, err error) error {
	none := new(memory.Error)
	if !errors.As(err, &none) || len(r.table.Names) < cmp.Or(r.host.wideFrom, wideVariables) || !r.table.HoldsColumns() {
		return err
	}
	if !r.wideBut() {
		none.Advice = "choose fewer variables, or the solver bcd with a penalty that is a number and nothing that takes all pairs, which only forms what is connected"
		return none
	}
	if r.admitWide() != nil {
		return none
	}
	data, failure := r.table.Estimate(ctx, r.engine, r.stage(progress.Reading, ""))
	if failure != nil {
		return failure
	}
	if r.columns = data.Columns; r.columns == nil { // there are more samples than variables
		return none
	}
	return r.advised(ctx, none, "give the penalty as a number, with which only what is connected is formed")
}

// penaltyFor is about the smallest penalty, rounded up, that leaves no component of more than
// so many variables, and how many the largest has.
func (r *run) penaltyFor(ctx context.Context, variables int) (rho float64, most int, err error) {
	const perVariable = 32 // pairs: that join all in nearly every table
	report := r.stage(progress.Screening, "")
	d := r.columns.Len()
	entries, floor, err := r.columns.Largest(ctx, perVariable*d, func(done float64) { report.Report(done, "pairs that are most related") })
	if err != nil {
		return 0, 0, err
	}
	rho = floor
	joined := covariance.NewForest(d)
	for _, e := range entries {
		joined.Join(int(e.I), int(e.J))
		if joined.Most() > variables {
			rho = math.Abs(e.Value)
			break
		}
	}
	rho = roundUp(rho)
	joined = covariance.NewForest(d)
	for _, e := range entries {
		if math.Abs(e.Value) > rho {
			joined.Join(int(e.I), int(e.J))
		}
	}
	report.Done(fmt.Sprintf("penalty %.4g leaves no component of more than %d variables", rho, joined.Most()))
	return rho, joined.Most(), nil
}

// roundUp is the next number of three digits.
func roundUp(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Ceil(v/unit) * unit
}
