package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
	"github.com/gladflow/gladflow/solver/glasso"
)

func runtimes() Experiment {
	return Experiment{
		Name:  "runtime",
		Title: "time for one iteration",
		Claim: "An iteration of GLAD takes about as long as one of the classical solvers, at D = 25 and D = 100.",
		Run:   runRuntime,
	}
}

// A timed method runs once and says how many iterations that was.
type timed struct {
	name string
	// prototype are the ms, by d, of the prototype behind this program, in numpy
	// on one thread; nil where it had none.
	prototype map[int]float64
	run       func(context.Context, solver.Example) (iterations int, err error)
}

// timedPenalty is the ρ of the classical solvers here; their iterations take the same
// time for any other, sweeps of BCD apart.
const timedPenalty = 0.05

func (r *Run) timed() ([]timed, error) {
	settings := glasso.Settings{
		Penalty: glasso.Penalty{Rho: timedPenalty}, Gap: math.SmallestNonzeroFloat64, IterationLimit: 30, Engine: r.Engine,
	}
	methods := []timed{
		{"ADMM", map[int]float64{25: 0.082, 100: 0.93}, func(ctx context.Context, c solver.Example) (int, error) {
			const n = 30
			return n, glasso.Textbook{Rho: timedPenalty, Iterations: n, Engine: r.Engine}.Run(ctx, c.Problem(), nil)
		}},
		{"G-ISTA, with its duality gap", map[int]float64{25: 0.062, 100: 1.00}, func(ctx context.Context, c solver.Example) (int, error) {
			est, err := glasso.GISTA{Settings: settings}.Solve(ctx, c.Problem())
			if err != nil {
				return 0, err
			}
			return est.Iterations, ctx.Err()
		}},
		{"BCD, a sweep, with its duality gap", nil, func(ctx context.Context, c solver.Example) (int, error) {
			s := settings
			s.IterationLimit = 5
			est, err := glasso.BCD{Settings: s}.Solve(ctx, c.Problem())
			if err != nil {
				return 0, err
			}
			return est.Iterations, ctx.Err()
		}},
	}
	for _, l := range []learner{literalGLAD, featuresGLAD, meanGLAD} {
		// The first weights of a training: time does not depend on them.
		preset, err := train.NewPreset(l.architecture, r.Seed)
		if err != nil {
			return nil, err
		}
		model := preset.Starts[0]
		prototype := map[int]float64{25: 0.128, 100: 1.19}
		if l != literalGLAD {
			prototype = nil
		}
		methods = append(methods, timed{l.name, prototype, func(ctx context.Context, c solver.Example) (int, error) {
			est, err := glad.Solver{Model: model, Backend: glad.CPU{Engine: r.Engine}}.Solve(ctx, c.Problem())
			if err != nil {
				return 0, err
			}
			return est.Iterations, ctx.Err()
		}})
	}
	return methods, nil
}

func runRuntime(ctx context.Context, r *Run) (*Report, error) {
	rounds := choose(r, 60, 8)
	methods, err := r.timed()
	if err != nil {
		return nil, err
	}
	sizes := []int{25, 100}
	t := newTable("dimension", "method", "milliseconds", "ratio_to_admm", "ratio_quartile_low", "ratio_quartile_high", "prototype_milliseconds")
	main := [][]string{{"method", "D", "ms an iteration", "ratio to ADMM (quartiles)", "a prototype's ratio"}}
	bars := make([]report.Bar, len(methods))
	var literal []string
	for i, d := range sizes {
		cases, err := r.cases(ctx, forTest, erdosRenyi(d), 1, 100)
		if err != nil {
			return nil, err
		}
		times := make([][]float64, len(methods))
		for round := range rounds {
			r.at((float64(i)+float64(round)/float64(rounds))/float64(len(sizes)), "D=%d", d)
			// In turns, so that whatever else the machine does falls on all alike.
			for k, m := range methods {
				start := time.Now()
				n, err := m.run(ctx, cases[0])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", m.name, err)
				}
				times[k] = append(times[k], float64(time.Since(start).Nanoseconds())/1e6/float64(n))
			}
		}
		for k, m := range methods {
			ratios := make([]float64, rounds)
			for j := range ratios {
				ratios[j] = times[k][j] / times[0][j]
			}
			ms, ratio := quantile(times[k], 0.5), quantile(ratios, 0.5)
			low, high := quantile(ratios, 0.25), quantile(ratios, 0.75)
			measured, theirs := math.NaN(), ""
			if m.prototype != nil {
				measured = m.prototype[d]
				theirs = fmt.Sprintf("%.2f", measured/methods[0].prototype[d])
			}
			t.add(d, m.name, ms, ratio, low, high, measured)
			main = append(main, []string{m.name, fmt.Sprint(d), fmt.Sprintf("%.3f", ms), fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, low, high), theirs})
			bars[k].Name = m.name
			bars[k].Values = append(bars[k].Values, ratio)
			bars[k].Error = append(bars[k].Error, (high-low)/2)
			if m.name == literalGLAD.name {
				literal = append(literal, fmt.Sprintf("%.2f at D = %d (the prototype: %s)", ratio, d, theirs))
			}
		}
	}
	return &Report{
		Setting: fmt.Sprintf("%s, and the same at d=25, M=100, one graph at a time, median of %d rounds in which the methods take turns, ρ=%v", erdosRenyi(100), rounds, timedPenalty),
		Errors:  "half the distance of the quartiles",
		Columns: t.done(),
		Main:    main,
		Figure: report.Figure{Title: "Time of an iteration, ADMM = 1", Panels: []report.Panel{
			report.Bars{Y: "ratio to ADMM", Groups: []string{"D = 25", "D = 100"}, Bars: bars},
		}},
		Paragraph: fmt.Sprintf(`The paper's milliseconds are of another program on another machine; ratios say more. An iteration of the literal GLAD takes %s times one of ADMM, the prototype being one in numpy on one thread, which was timed independently. Both consist of one eigendecomposition and one pass over the matrix; GLAD's pass evaluates a network of 40 parameters at every entry, which is what the ratio shows, the more so where the matrix is small. G-ISTA and BCD need no eigendecomposition, only Cholesky factorisations and regressions, so that an iteration of theirs, a duality gap with it, need not cost more than ADMM's. How many iterations a solver needs is another matter.`,
			job.AllOf(literal)),
	}, nil
}

// quantile of x, which is not empty.
func quantile(x []float64, q float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[min(len(x)-1, int(q*float64(len(x))))]
}
