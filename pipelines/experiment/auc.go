package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulate/oracle"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
	"github.com/gladflow/gladflow/solver/glasso"
)

func areaUnderCurve() Experiment {
	return Experiment{
		Name:  "auc",
		Title: "AUC of the ranking of edges, with its ceiling",
		Claim: "At D = 39 and p = 0.05 GLAD ranks edges with an AUC of 0.788, 0.811 and 0.878 for M = 15, 35 and 100.",
		Run:   runAUC,
	}
}

// paperAUC is the paper's, by M.
func paperAUC() map[int]float64 { return map[int]float64{15: 0.788, 35: 0.811, 100: 0.878} }

// A reading says what is drawn and what is counted.
type reading struct {
	name     string
	smallest float64 // eigenvalue
	diagonal bool    // all entries count, the diagonal too
	signed   bool    // an entry counts as positive if Θ*ij > 0, not if it is not zero
}

func readings() []reading {
	return []reading{
		{name: "as stated", smallest: 1},
		{name: "smallest eigenvalue 0.1", smallest: 0.1},
		{name: "diagonal counted, signed labels", smallest: 1, diagonal: true, signed: true},
		{name: "diagonal counted", smallest: 1, diagonal: true},
	}
}

func (rd reading) family(d int, p float64) simulate.Family {
	return simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: d, Density: p, SmallestEigenvalue: rd.smallest}
}

// A ranking is the score of every entry by one method.
type ranking struct {
	name   string
	scores []*dense.Sym // by test graph
}

func runAUC(ctx context.Context, r *Run) (*Report, error) {
	samples := choose(r, []int{15, 35, 100}, []int{100})
	n := choose(r, 100, 12)
	t := newTable("reading", "dimension", "samples", "method", "auc", "standard_error", "above_correlation", "above_correlation_error", "paper")
	main := [][]string{{"reading", "D", "M", "correlation", "graphical lasso", "GLAD, literal", "GLAD, posterior mean", "ceiling", "the paper"}}
	f := report.Figure{Title: "AUC of the ranking of edges, D = 39", Columns: 2}
	var over []string // figures above the ceiling, of which there must be none
	for i, rd := range readings() {
		panel := report.Bars{Title: rd.name, Y: "AUC", Low: 0.5, High: 0.95}
		for k, m := range samples {
			r.at((float64(i)+float64(k)/float64(len(samples)))/5, "%s, M=%d", rd.name, m)
			methods, test, err := r.rankings(ctx, rd, m, n)
			if err != nil {
				return nil, err
			}
			row := []string{rd.name, "39", fmt.Sprint(m)}
			cells, above, err := addAUC(t, rd, 39, m, methods, test, &panel)
			if err != nil {
				return nil, err
			}
			over = append(over, above...)
			theirs := paperAUC()[m]
			panel.Groups = append(panel.Groups, fmt.Sprintf("M = %d", m))
			appendBar(&panel, "the paper", theirs, math.NaN())
			main = append(main, append(append(row, cells...), fmt.Sprintf("%.3f", theirs)))
		}
		f.Panels = append(f.Panels, panel)
	}
	rows, above, err := r.largeAUC(ctx, t)
	if err != nil {
		return nil, err
	}
	over = append(over, above...)
	main = append(main, rows...)
	verdict := "No figure lies above its ceiling by more than two standard errors."
	if len(over) > 0 {
		verdict = "Above their ceiling, which is a defect: " + job.AllOf(over) + "."
	}
	return &Report{
		Setting:   fmt.Sprintf("%s, %d test graphs, AUC over unordered pairs averaged over graphs; scores |Sij|/√(SiiSjj), |Θij|/√(ΘiiΘjj); the penalty of the graphical lasso tuned for AUC on validation graphs; at D = 39 every model is trained for its reading and M on %d graphs with 2 covariances each; at D = 100, with %d test graphs, %s", readings()[0].family(39, 0.05), n, trainingGraphs, r.testGraphs(), r.erOrigin()),
		Columns:   t.done(),
		Main:      main,
		Figure:    f,
		Paragraph: verdict + ` The ceiling ranks a pair by the odds of its being an edge given all other entries of the true matrix: nobody who does not know these can do better, on average over graphs. The paper's AUC lies far above it for the setting as stated, so that it is out of reach with that generator and an AUC over pairs. Two readings come near its figures. In "smallest eigenvalue 0.1" the diagonal of Θ* is raised less, which makes partial correlations, and with them every method's AUC, larger. In "diagonal counted, signed labels" every entry of the matrix counts, also the diagonal, which is always there and ranks highest, and an entry is a positive one if Θ*ij > 0, by the sign of its label; "diagonal counted" leaves the sign away. The paper's figures lie between or near these. Under the stated setting GLAD and the absolute correlation are close: with so few samples a pair's own correlation is nearly all that is known of it; the gain of a learned solver in AUC shows at larger M, as the rows for D = 100 say.`,
	}, nil
}

// rankings are the methods at D = 39.
func (r *Run) rankings(ctx context.Context, rd reading, m, n int) ([]ranking, []solver.Example, error) {
	family := rd.family(39, 0.05)
	test, err := r.cases(ctx, forTest, family, n, m)
	if err != nil {
		return nil, nil, err
	}
	validation, err := r.cases(ctx, forValidation, family, choose(r, 24, 6), m)
	if err != nil {
		return nil, nil, err
	}
	methods, err := r.compared(ctx, family, validation, test, func(l learner) (*glad.Model, error) {
		adjust := func(preset *train.Preset) {
			if l == meanGLAD {
				preset.Settings.Steps, preset.Settings.Batch = 300, 10
			} else {
				preset.Settings.Steps = 120
			}
		}
		// The readings of one family share their models.
		return cached(r, fmt.Sprintf("auc %s %s, M=%d", l.architecture, family, m), func() (*glad.Model, error) {
			return r.learnFamily(ctx, l.architecture, family, m, adjust)
		})
	})
	return methods, test, err
}

// compared are the methods on one test set, the ceiling last.
func (r *Run) compared(ctx context.Context, family simulate.Family, validation, test []solver.Example, model func(learner) (*glad.Model, error)) ([]ranking, error) {
	lasso, err := r.lassoByAUC(ctx, validation, test)
	if err != nil {
		return nil, err
	}
	methods := []ranking{{"|correlation|", correlations(test)}, lasso}
	for _, l := range []learner{literalGLAD, meanGLAD} {
		m, err := model(l)
		if err != nil {
			return nil, err
		}
		estimates, err := r.solve(ctx, m, test)
		if err != nil {
			return nil, err
		}
		methods = append(methods, ranking{l.name, scoresOf(estimates)})
	}
	ceiling, err := r.ceiling(ctx, family, test)
	return append(methods, ceiling), err
}

func (r *Run) ceiling(ctx context.Context, family simulate.Family, test []solver.Example) (ranking, error) {
	scores, err := tune.Each(ctx, test, r.Workers, func(_ int, c solver.Example) (*dense.Sym, error) {
		return oracle.Ceiling(c.S, c.Samples, c.Truth, family.Resolved().Density)
	})
	return ranking{"ceiling", scores}, err
}

// correlations are the scores |Sij|/√(Sii·Sjj), 1 on the diagonal.
func correlations(cases []solver.Example) []*dense.Sym {
	scores := make([]*dense.Sym, len(cases))
	for k, c := range cases {
		scores[k] = normalised(c.S)
	}
	return scores
}

// scoresOf are the scores |Θij|/√(Θii·Θjj), 1 on the diagonal.
func scoresOf(estimates []*solver.Estimate) []*dense.Sym {
	scores := make([]*dense.Sym, len(estimates))
	for k, e := range estimates {
		scores[k] = normalised(e.Precision)
	}
	return scores
}

func normalised(a *dense.Sym) *dense.Sym {
	r := dense.NewSym(a.Len(), nil)
	for i := range a.Len() {
		for j := range i + 1 {
			r.Set(i, j, math.Abs(a.At(i, j))/math.Sqrt(a.At(i, i)*a.At(j, j)))
		}
	}
	return r
}

// lassoByAUC chooses ρ by the AUC itself.
func (r *Run) lassoByAUC(ctx context.Context, validation, test []solver.Example) (ranking, error) {
	at := func(rho float64, cases []solver.Example) ([]*dense.Sym, error) {
		estimates, err := tune.Each(ctx, cases, r.Workers, func(_ int, c solver.Example) (*solver.Estimate, error) {
			est, err := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: rho}, Gap: 1e-5, Engine: r.Engine}}.Solve(ctx, c.Problem())
			if err == nil {
				err = ctx.Err()
			}
			return est, err
		})
		if err != nil {
			return nil, err
		}
		return scoresOf(estimates), nil
	}
	best, most := 0.0, math.Inf(-1)
	for k := range 10 {
		rho := 0.002 * math.Pow(1.7, float64(k)) // to 0.24
		scores, err := at(rho, validation)
		if err != nil {
			return ranking{}, err
		}
		areas, err := areasOf(scores, validation, reading{})
		if err != nil {
			return ranking{}, err
		}
		if v, _ := metric.MeanAndError(areas); v > most {
			best, most = rho, v
		}
	}
	scores, err := at(best, test)
	return ranking{"graphical lasso", scores}, err
}

// areasOf are the AUC of every graph that has edges and pairs without.
func areasOf(scores []*dense.Sym, cases []solver.Example, rd reading) ([]float64, error) {
	var areas []float64
	for k, c := range cases {
		var values []float64
		var positive []bool
		positives := 0
		for i := range c.Truth.Len() {
			for j := range c.Truth.Len() {
				if !rd.diagonal && j >= i {
					break
				}
				is := c.Truth.At(i, j) != 0
				if rd.signed {
					is = c.Truth.At(i, j) > 0
				}
				values, positive = append(values, scores[k].At(i, j)), append(positive, is)
				if is {
					positives++
				}
			}
		}
		if positives == 0 || positives == len(positive) {
			continue
		}
		rank, err := metric.Rank(values, positive)
		if err != nil {
			return nil, err
		}
		areas = append(areas, rank.AUROC)
	}
	return areas, nil
}

// addAUC adds a setting to table and panel, and returns its cells and what lies above
// the ceiling, which is the last of the methods.
func addAUC(t *table, rd reading, d, m int, methods []ranking, test []solver.Example, panel *report.Bars) (cells, over []string, err error) {
	areas := make([][]float64, len(methods))
	for k, method := range methods {
		if method.name == "ceiling" && rd.diagonal {
			continue // it ranks pairs
		}
		if areas[k], err = areasOf(method.scores, test, rd); err != nil {
			return nil, nil, err
		}
	}
	last := len(methods) - 1
	for k, method := range methods {
		if areas[k] == nil {
			cells = append(cells, "")
			appendBar(panel, method.name, math.NaN(), math.NaN())
			continue
		}
		v, se := metric.MeanAndError(areas[k])
		gain, gainError := metric.MeanAndError(differences(areas[k], areas[0]))
		theirs := math.NaN()
		if d == 39 {
			theirs = paperAUC()[m]
		}
		t.add(rd.name, d, m, method.name, v, se, gain, gainError, theirs)
		cells = append(cells, fmt.Sprintf("%.3f ± %.3f", v, se))
		appendBar(panel, method.name, v, se)
		if k != last && areas[last] != nil {
			if above, se := metric.MeanAndError(differences(areas[k], areas[last])); above > 2*se {
				over = append(over, fmt.Sprintf("%s at D=%d, M=%d, %s", method.name, d, m, rd.name))
			}
		}
	}
	return cells, over, nil
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

func appendBar(p *report.Bars, name string, v, e float64) {
	if p == nil {
		return
	}
	for k := range p.Bars {
		if p.Bars[k].Name == name {
			p.Bars[k].Values, p.Bars[k].Error = append(p.Bars[k].Values, v), append(p.Bars[k].Error, e)
			return
		}
	}
	p.Bars = append(p.Bars, report.Bar{Name: name, Values: []float64{v}, Error: []float64{e}})
}

// largeAUC are the rows for D = 100, p = 0.1.
func (r *Run) largeAUC(ctx context.Context, t *table) (rows [][]string, over []string, err error) {
	rd := reading{name: "D = 100, p = 0.1", smallest: 1}
	family := erdosRenyi(erDimension)
	for i, m := range r.erSamples() {
		r.at(0.8+0.2*float64(i)/float64(len(r.erSamples())), "D=100, M=%d", m)
		test, err := r.cases(ctx, forTest, family, r.testGraphs(), m)
		if err != nil {
			return nil, nil, err
		}
		validation, err := r.validation(ctx, family, m)
		if err != nil {
			return nil, nil, err
		}
		methods, err := r.compared(ctx, family, validation, test, func(l learner) (*glad.Model, error) {
			return r.erModel(ctx, l, m)
		})
		if err != nil {
			return nil, nil, err
		}
		cells, above, err := addAUC(t, rd, erDimension, m, methods, test, nil)
		if err != nil {
			return nil, nil, err
		}
		over = append(over, above...)
		rows = append(rows, append(append([]string{rd.name, "100", fmt.Sprint(m)}, cells...), ""))
	}
	return rows, over, nil
}
