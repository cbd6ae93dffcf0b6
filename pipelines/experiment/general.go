package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/glad"
)

func generalModel() Experiment {
	return Experiment{
		Name:  "general",
		Title: "a model for any table, on families and sizes that it has seen and has not",
		Run:   runGeneral,
	}
}

// A cell is a family at one size with the results of all methods.
type cell struct {
	family  generalFamily
	size    Size
	results []*cellResult
}

// A generalRun is one run of the experiment.
type generalRun struct {
	*Run
	Part
	models []*glad.Model
	fitted []contender // the default model, fitted to each table
	cells  []cell
	noise  []noise
}

func runGeneral(ctx context.Context, r *Run) (*Report, error) {
	g := &generalRun{Run: r, Part: r.Part.resolved(r.Quick)}
	var err error
	if g.models, err = g.openModels(); err != nil {
		return nil, err
	}
	if !slices.Contains(g.Without, withoutAdapt) {
		if g.fitted, err = g.adaptable(); err != nil {
			return nil, err
		}
	}
	var cells []cell
	for _, size := range g.Sizes {
		for _, f := range generalFamilies() {
			if slices.Contains(g.Families, f.name) {
				cells = append(cells, cell{family: f, size: size})
			}
		}
	}
	// Steps of a cell take about as the cube of d.
	var all, done float64
	weight := func(s Size) float64 { d := float64(min(s.Dimension, expertDimension)); return d * d * d }
	for _, c := range cells {
		all += weight(c.size)
	}
	for _, c := range cells {
		if err := g.cell(ctx, &c, func(part float64, doing string) {
			r.at((done+part*weight(c.size))/all, "%s, d=%d, M=%d: %s", c.family.name, c.size.Dimension, c.size.Samples, doing)
		}); err != nil {
			return nil, fmt.Errorf("%s, d=%d, M=%d: %w", c.family.name, c.size.Dimension, c.size.Samples, err)
		}
		g.cells = append(g.cells, c)
		done += weight(c.size)
	}
	if slices.Contains(g.Families, simulate.GraphEmpty) {
		if err := g.countNoise(ctx); err != nil {
			return nil, err
		}
	}
	return g.report(), nil
}

// cell runs every method on the graphs of one cell.
func (g *generalRun) cell(ctx context.Context, c *cell, tell func(part float64, doing string)) error {
	f := c.family.sized(c.size.Dimension)
	if err := f.Validate(); err != nil {
		return err
	}
	tell(0, "tables")
	cases, err := g.tableCases(ctx, forTest, f, g.Graphs, c.size.Samples, 0)
	if err != nil {
		return err
	}
	of, err := g.expertsOf(ctx, c.family, c.size, func(doing string) { tell(0.1, doing) })
	if err != nil {
		return err
	}
	methods := g.contenders(of)
	for k, m := range methods {
		tell(0.5+0.5*float64(k)/float64(len(methods)), m.name)
		result, err := g.judge(ctx, m, cases, g.Scales)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		c.results = append(c.results, result)
	}
	return nil
}

// contenders are the methods of a cell, those of the models first.
func (g *generalRun) contenders(of experts) []contender {
	var methods []contender
	for k, m := range g.models {
		methods = append(methods, g.learned(g.modelName(k), m))
	}
	methods = append(methods, g.fitted...)
	methods = append(methods, g.oracleLasso(g.Scales))
	if of.correlations != nil {
		methods = append(methods, g.learned(familyModel, of.correlations))
	}
	if of.equal != nil {
		methods = append(methods, g.learnedEqual(of.equal))
	}
	return append(methods, g.simple()...)
}

// modelName is what model k is called: by its own name, or, where two have one, by what was
// given.
func (g *generalRun) modelName(k int) string {
	for other, m := range g.models {
		if other != k && m.Name == g.models[k].Name {
			return g.Models[k]
		}
	}
	return g.models[k].Name
}

// noise is the number of pairs that a model lists where no pair is joined.
type noise struct {
	model string
	size  Size
	edges measured
	most  int
}

// noiseSizes are those of tables without a network.
func (g *generalRun) noiseSizes() []Size {
	return choose(g.Run, []Size{{100, 100}, {400, 100}, {50, 500}}, []Size{{20, 20}})
}

// countNoise counts edges in tables of independent variables.
func (g *generalRun) countNoise(ctx context.Context) error {
	for i, size := range g.noiseSizes() {
		g.at(float64(i)/float64(len(g.noiseSizes())), "noise, d=%d, M=%d", size.Dimension, size.Samples)
		f := simulate.Family{Graph: simulate.GraphEmpty, Dimension: size.Dimension}
		cases, err := g.tableCases(ctx, forTest, f, g.Graphs, size.Samples, 0)
		if err != nil {
			return err
		}
		for k, m := range g.models {
			n := noise{model: g.modelName(k), size: size}
			var counts []float64
			for _, c := range cases {
				est, err := g.solveOne(ctx, m, c.problem())
				if err != nil {
					return err
				}
				keepLikely(est)
				edges := est.Edges()
				counts = append(counts, float64(edges))
				n.most = max(n.most, edges)
			}
			n.edges = average(counts, nil)
			g.noise = append(g.noise, n)
		}
	}
	return nil
}

// training says what the models were trained on, and what of this experiment is new to the
// first.
func (g *generalRun) training() string {
	var texts, unseen []string
	for k, m := range g.models {
		text := m.Card.Family
		if text == "" {
			text = "data of which its card says nothing"
		}
		texts = append(texts, fmt.Sprintf("%s on %s", g.modelName(k), text))
	}
	for _, f := range generalFamilies() {
		if slices.Contains(g.Families, f.name) && !seenGraph(g.models[0].Card, f.of.Graph) {
			unseen = append(unseen, f.name)
		}
	}
	for _, s := range g.Sizes {
		if !seenSize(g.models[0].Card, s) {
			unseen = append(unseen, fmt.Sprintf("d=%d with M=%d", s.Dimension, s.Samples))
		}
	}
	text := "trained: " + strings.Join(texts, "; ")
	if len(unseen) == 0 {
		return text + "; all families and sizes of the test are among those"
	}
	return fmt.Sprintf("%s; never by %s, by its card: %s", text, g.modelName(0), strings.Join(unseen, ", "))
}
