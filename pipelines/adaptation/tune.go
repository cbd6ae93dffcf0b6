// Package adaptation trains GLAD for one table: it simulates networks, takes those that are
// most like the table, and fine-tunes a model on them. It has the simulated tables of the
// gates of solver/glad/adapt too.
//
//	m, chosen, err := adaptation.Tune(ctx, general, problem, adaptation.Settings{})
package adaptation

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// MostVariables bounds d of Tune, and MostNumbers M·d: beyond it takes many minutes.
const (
	MostVariables = 300
	MostNumbers   = 3_000_000
)

// What Tune draws and does.
const (
	drawnTables      = 160
	nearest          = 16 // to train with
	next             = 8  // to choose the best step by
	steps            = 60
	learningRatePart = 3 // as in all fine-tuning
	tuneSeed         = 1
	tuneStream       = 33
)

// Settings say how Tune works. The zero value of a field is its default.
type Settings struct {
	// Backend evaluates the model. Default: glad.CPU{}.
	Backend glad.Backend
	// Engine does the linear algebra. Default: dense.Default().
	Engine dense.Engine
	// Report, if set, is told how much is done, from 0 to 1.
	Report func(done float64, what string)
}

// A Family is a kind of graph with the number of networks of it.
type Family struct {
	Name   string
	Graphs int
}

// Tune fine-tunes a model for p, whose S is a correlation of at most MostVariables
// variables: it draws 160 tables of as many variables and samples (see Draw), compares
// their adapt.Statistics with those of p, each in units of its spread over the tables, and
// trains 60 steps on the 16 most similar; the 8 after them choose among the steps, the
// model that was given among them. families counts the graphs of the 16, the most frequent
// first.
//
// The tuned model has no head for the probability of an edge. The same problem gives the same
// bits. Errors are those of solver.Solver and train.Run,
// and ctx.Err().
func Tune(ctx context.Context, m *glad.Model, p solver.Problem, s Settings) (tuned *glad.Model, families []Family, err error) {
	if s.Engine == nil {
		s.Engine = dense.Default()
	}
	if s.Report == nil {
		s.Report = func(float64, string) {}
	}
	if m = m.Clone(); m.HasEdgeHead() {
		m.Edge = glad.Network{} // it is the caller's, and takes time
	}
	drawn, err := s.draw(ctx, m, p)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range drawn[:nearest] {
		at := slices.IndexFunc(families, func(f Family) bool { return f.Name == t.family })
		if at < 0 {
			at, families = len(families), append(families, Family{Name: t.family})
		}
		families[at].Graphs++
	}
	slices.SortStableFunc(families, func(a, b Family) int { return cmp.Compare(b.Graphs, a.Graphs) })
	var training, validation []solver.Example
	for i, t := range drawn[:nearest+next] {
		if i < nearest {
			training = append(training, t.Example)
		} else {
			validation = append(validation, t.Example)
		}
	}
	preset, err := presetOf(m)
	if err != nil {
		return nil, nil, err
	}
	settings := preset.Settings
	settings.LearningRate /= learningRatePart
	settings.Steps, settings.ValidateEvery, settings.Backend = steps, steps/3, s.Backend
	settings.Criterion, settings.SupportCost = train.MeanNMSE(), -1
	settings.Progress = func(at train.Progress) {
		s.Report(0.5+0.5*float64(at.Step)/float64(at.Steps), "training")
	}
	found, err := train.Run(ctx, []*glad.Model{m}, training, validation, settings)
	if err != nil {
		return nil, nil, err
	}
	tuned = found.Model
	tuned.Threshold = m.Threshold // of general use
	tuned.Card = m.Card.Clone()
	return tuned, families, nil
}

// presetOf is the preset of the architecture that m has, or of cells for tables of any size.
func presetOf(m *glad.Model) (train.Preset, error) {
	for _, name := range train.Architectures() {
		p, err := train.NewPreset(name, tuneSeed)
		if err == nil && p.Starts[0].Kind == m.Kind && p.Starts[0].Parameters() == m.Parameters() {
			return p, nil
		}
	}
	return train.NewPreset(train.GeneralPosteriorMean, tuneSeed)
}

// A table is one that was drawn.
type table struct {
	solver.Example
	family   string
	number   int
	stats    []float64
	distance float64
}

// draw draws the tables, the most similar to p first.
func (s Settings) draw(ctx context.Context, m *glad.Model, p solver.Problem) ([]table, error) {
	statistics := func(p solver.Problem) ([]float64, error) {
		est, err := glad.Solver{Model: m, Backend: s.Backend}.Solve(ctx, p)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		return adapt.Statistics(ctx, p, est.Precision, s.Engine)
	}
	own, err := statistics(p)
	if err != nil {
		return nil, err
	}
	tables := make([]table, drawnTables)
	samples := p.Samples
	if samples == 0 {
		samples = p.S.Len()
	}
	for k := range tables {
		t := &tables[k]
		rng := rand.New(rand.NewPCG(tuneSeed, tuneStream<<32|uint64(k)))
		if *t, err = dense.AwaitResult(ctx, func() (table, error) {
			e, family, err := DrawOf(ctx, rng, adapt.Standardised, p.S.Len(), samples)
			return table{Example: e, family: family, number: k}, err
		}); err != nil {
			return nil, err
		}
		if t.stats, err = statistics(t.Problem()); err != nil {
			return nil, err
		}
		s.Report(0.5*float64(k+1)/drawnTables, "simulating")
	}
	for i, v := range own {
		var mean, spread float64
		for _, t := range tables {
			mean += t.stats[i] / drawnTables
		}
		for _, t := range tables {
			spread += (t.stats[i] - mean) * (t.stats[i] - mean) / drawnTables
		}
		if spread = math.Sqrt(spread); spread < 1e-6 {
			continue
		}
		for k := range tables {
			x := (tables[k].stats[i] - v) / spread
			tables[k].distance += x * x
		}
	}
	slices.SortFunc(tables, func(a, b table) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.number, b.number))
	})
	return tables, nil
}
