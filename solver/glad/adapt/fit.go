package adapt

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Lesson is what a gate learns from one simulated table.
type Lesson struct {
	// Family is the kind of its graph.
	Family string
	// Statistics are those of the table and of the general model's estimate.
	Statistics []float64
	// Errors are tr((Θj − Θ*)(Θk − Θ*))/‖Θ*‖² of every two models: a mean with weights w
	// has the relative error wᵀ·Errors·w.
	Errors [][]float64
}

// Teach solves a simulated table with every model of a set, whose gate is not used.
func (s Solver) Teach(ctx context.Context, e solver.Example) (Lesson, error) {
	w := &work{Solver: s, ctx: ctx}
	p := e.Problem()
	var off []*dense.Sym
	var lesson Lesson
	for k, m := range s.Set.Models {
		all, err := w.solve(m, []solver.Problem{p})
		if err != nil {
			return lesson, err
		}
		if err := ctx.Err(); err != nil {
			return lesson, err
		}
		if k == 0 {
			if lesson.Statistics, err = Statistics(ctx, p, all[0].Precision, w.engine()); err != nil {
				return lesson, err
			}
		}
		z := all[0].Support.Clone()
		add(z, -1, e.Truth)
		off = append(off, z)
	}
	norm := e.Truth.Dot(e.Truth)
	for _, a := range off {
		row := make([]float64, len(off))
		for k, b := range off {
			row[k] = a.Dot(b) / norm
		}
		lesson.Errors = append(lesson.Errors, row)
	}
	return lesson, nil
}

// decibels is the error of a mean of models.
func (l Lesson) decibels(weights []float64) float64 {
	var sum float64
	for i, a := range weights {
		for j, b := range weights {
			sum += a * l.Errors[i][j] * b
		}
	}
	return 10 * math.Log10(math.Max(sum, tiny))
}

// A GateReport says how a gate does on the tables that it was fitted to, each left out in
// turn: means of errors in decibels.
type GateReport struct {
	Tables int
	// General is the error of the general model, Gate that of the mean that the gate
	// chooses, Best that of the best single model of each table. Unseen is Gate with all
	// tables of the same family left out.
	General, Gate, Unseen, Best float64
}

// excessLimit bounds what a gate learns of an expert, in decibels either way: how bad a bad
// one is does not matter.
const excessLimit = 4

// FitGate fits a gate for models to lessons: the length, the noise, the caution and the
// temperature are those, of a few, with the least mean error in decibels where each table
// is left out in turn, and each family as a whole, the two counting alike but that what is
// worse than the general model counts more: a gate must do no harm on families that it has
// not seen.
func FitGate(ctx context.Context, models []*glad.Model, lessons []Lesson) (*Gate, GateReport, error) {
	report := GateReport{Tables: len(lessons)}
	if len(lessons) < 2 {
		return nil, report, fmt.Errorf("%d tables are too few to fit a gate to", len(lessons))
	}
	g := &Gate{}
	for _, m := range models {
		g.Models = append(g.Models, m.Name)
	}
	n := len(statisticNames)
	g.Mean, g.Deviation = make([]float64, n), make([]float64, n)
	for i := range n {
		column := make([]float64, len(lessons))
		for t, l := range lessons {
			column[t] = l.Statistics[i]
		}
		g.Mean[i], g.Deviation[i], _ = moments(column)
		g.Deviation[i] = math.Max(g.Deviation[i], 1e-3)
	}
	// The general model is the one beyond which nothing is known: an expert is worse.
	for _, l := range lessons {
		x := make([]float64, n)
		for i, v := range l.Statistics {
			x[i] = round((v - g.Mean[i]) / g.Deviation[i])
		}
		g.Tables = append(g.Tables, x)
		excess := make([]float64, len(models)-1)
		general := 10 * math.Log10(l.Errors[0][0]+tiny)
		report.General += general / float64(len(lessons))
		best := general
		for k := range excess {
			own := 10 * math.Log10(l.Errors[k+1][k+1]+tiny)
			best = math.Min(best, own)
			excess[k] = round(math.Max(-excessLimit, math.Min(excessLimit, own-general)))
		}
		report.Best += best / float64(len(lessons))
		g.Excess = append(g.Excess, excess)
	}
	best, least := *g, math.Inf(1)
	general := make([]float64, len(models))
	general[0] = 1
	g.Prior = unknownExcess
	for _, g.Length = range []float64{2.5, 4, 6, 10, 15} {
		for _, g.Noise = range []float64{0.03, 0.1, 0.3, 1} {
			if err := ctx.Err(); err != nil {
				return nil, report, err
			}
			all, unseen := g.fit(), g.withoutFamilies(lessons)
			for _, g.Caution = range []float64{0.5, 1, 2} {
				for _, g.Temperature = range []float64{0.1, 0.2, 0.4, 0.8} {
					known, other, harm := all.leftOut(lessons), 0.0, 0.0
					for _, f := range unseen {
						f.caution(g)
						for _, l := range f.tables {
							_, weights := f.predict(l.Statistics)
							own := l.decibels(weights)
							other += own / float64(len(lessons))
							harm += math.Max(0, own-l.decibels(general)) / float64(len(lessons))
						}
					}
					if v := known + other + harmCounts*harm; v < least {
						least, report.Gate, report.Unseen, best = v, known, other, *g
					}
				}
			}
		}
	}
	return &best, report, nil
}

// harmCounts is how much more it counts to be worse than the general model on a family that
// was left out than to be less good than possible.
const harmCounts = 4

// unknownExcess is by how many decibels an expert is expected to be worse than the general
// model where nothing is known of a table.
const unknownExcess = 1

// A without is a gate that has not seen the tables of a family, with them.
type without struct {
	*process
	tables []Lesson
}

// caution takes what the kernel does not depend on from another gate.
func (f without) caution(from *Gate) {
	f.Caution, f.Temperature = from.Caution, from.Temperature
}

// withoutFamilies fits the gate without each family in turn.
func (g *Gate) withoutFamilies(lessons []Lesson) []without {
	var all []without
	done := make(map[string]bool)
	for _, l := range lessons {
		if done[l.Family] {
			continue
		}
		done[l.Family] = true
		some := *g
		some.Tables, some.Excess = nil, nil
		f := without{}
		for i, other := range lessons {
			if other.Family == l.Family {
				f.tables = append(f.tables, other)
			} else {
				some.Tables, some.Excess = append(some.Tables, g.Tables[i]), append(some.Excess, g.Excess[i])
			}
		}
		if len(some.Tables) == 0 {
			continue
		}
		f.process = some.fit()
		all = append(all, f)
	}
	return all
}

// round keeps five digits, so that a file is short.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// leftOut is the mean error over the tables when each is left out (Rasmussen and Williams,
// Eq. 5.12).
func (p *process) leftOut(lessons []Lesson) float64 {
	var sum float64
	for i, l := range lessons {
		own := p.inverse.At(i, i)
		_, weights := p.weigh(func(k int) (float64, float64) {
			return p.Excess[i][k] - p.alpha[k][i]/own, math.Sqrt(math.Max(0, 1/own-p.Noise)) * p.spread[k]
		})
		sum += l.decibels(weights)
	}
	return sum / float64(len(lessons))
}
