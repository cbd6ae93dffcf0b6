package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// expertDimension is the largest d that the models of families are trained for; where tables
// have more variables they are trained with as many for each sample. Above scratchDimension
// they go on from those for that many variables and as many samples: steps are dear there.
const (
	expertDimension  = 200
	scratchDimension = 100
)

// expertSize is what a model for tables of a size is trained on.
func expertSize(s Size) Size {
	if s.Dimension > expertDimension {
		return Size{expertDimension, max(2, s.Samples*expertDimension/s.Dimension)}
	}
	return s
}

// openModels opens the models that are compared.
func (p Part) openModels() ([]*glad.Model, error) {
	var models []*glad.Model
	for _, name := range p.Models {
		m, err := recovery.OpenModel("models", name, nil)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// experts are the models of one family for one size.
type experts struct {
	// correlations is that for correlations; equal that for covariances of variables of
	// equal scale, nil where a model was given for the family, or none is asked for.
	correlations, equal *glad.Model
}

// expertsOf reads the models of a family from the folder of experts, or trains them and, where
// there is a folder, keeps them in it: FAMILY.json serves for every size, otherwise there are
// FAMILY-d100-m100.json and FAMILY-d100-m100-equal.json.
func (g *generalRun) expertsOf(ctx context.Context, f generalFamily, size Size, tell func(doing string)) (experts, error) {
	if slices.Contains(g.Without, withoutFamily) {
		return experts{}, nil
	}
	size = expertSize(size)
	if m, err := g.readExpert(f.name); m != nil || err != nil {
		return experts{correlations: m}, err
	}
	first, err := g.expert(ctx, f, size, tell)
	if err != nil || !slices.Contains(g.Scales, 0) {
		return experts{correlations: first}, err
	}
	equal, err := g.kept(expertName(f, size)+"-equal", func(name string) (*glad.Model, error) {
		tell("training " + name)
		return g.trainExpert(ctx, name, f, size, (*tableCase).equal, goingOn(first, 100, size))
	})
	return experts{first, equal}, err
}

func expertName(f generalFamily, size Size) string {
	return fmt.Sprintf("%s-d%d-m%d", f.name, size.Dimension, size.Samples)
}

// expert is the model for correlations of one family and size.
func (g *generalRun) expert(ctx context.Context, f generalFamily, size Size, tell func(doing string)) (*glad.Model, error) {
	return g.kept(expertName(f, size), func(name string) (*glad.Model, error) {
		settings := fromScratch
		if size.Dimension > scratchDimension {
			smaller, err := g.expert(ctx, f, Size{scratchDimension, size.Samples}, tell)
			if err != nil {
				return nil, err
			}
			settings = goingOn(smaller, 160, size)
		}
		tell("training " + name)
		return g.trainExpert(ctx, name, f, size, (*tableCase).problem, settings)
	})
}

// fromScratch adjusts a preset to train from random weights on correlations.
func fromScratch(preset *train.Preset) {
	preset.Settings.Steps = 300
	// The features of the cells were centred for this.
	preset.Starts[0].Scaling = glad.Scaling{Mode: glad.ScalingGlobal, MeanDiagonal: 0.35}
}

// goingOn adjusts a preset to go on from a model, half of steps where there are many variables.
func goingOn(start *glad.Model, steps int, size Size) func(*train.Preset) {
	if size.Dimension > scratchDimension {
		steps /= 2
	}
	return func(preset *train.Preset) {
		preset.Settings.Steps = steps
		preset.Settings.LearningRate *= 0.5 // large first steps would lose weights that are good
		preset.Starts = []*glad.Model{start}
	}
}

// readExpert reads a model from the folder of experts; nil where there is none.
func (p Part) readExpert(name string) (*glad.Model, error) {
	if p.Experts == "" {
		return nil, nil
	}
	path := filepath.Join(p.Experts, name+".json")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return recovery.OpenModel("experts", path, nil)
}

// kept is the model in the folder of experts, or what trained returns, which is then kept
// there.
func (p Part) kept(name string, trained func(name string) (*glad.Model, error)) (*glad.Model, error) {
	m, err := p.readExpert(name)
	if m != nil || err != nil {
		return m, err
	}
	if m, err = trained(name); err != nil || p.Experts == "" {
		return m, err
	}
	folder, err := output.OpenFolder("experts", p.Experts)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	_, err = arrowio.ReplaceFileIn(folder.Root(), name+".json", m.Write)
	return m, err
}

// trainExpert trains on the paper's number of graphs, with as many tables of each.
func (r *Run) trainExpert(ctx context.Context, name string, of generalFamily, size Size, example func(*tableCase) solver.Example, adjust func(*train.Preset)) (*glad.Model, error) {
	f, m := of.sized(size.Dimension), size.Samples
	examples := func(purpose string, n, copied int) ([]solver.Example, error) {
		cases, err := r.tableCases(ctx, purpose, f, n, m, copied)
		if err != nil {
			return nil, err
		}
		list := make([]solver.Example, n)
		for i, c := range cases {
			list[i] = example(c)
		}
		return list, nil
	}
	var training []solver.Example
	for copied := range trainingCopies {
		more, err := examples(forTraining, choose(r, trainingGraphs, 2), copied)
		if err != nil {
			return nil, err
		}
		training = append(training, more...)
	}
	validation, err := examples(forValidation, choose(r, 6, 2), 0)
	if err != nil {
		return nil, err
	}
	model, err := r.learn(ctx, train.UntiedPosteriorMean, "general, "+name, training, validation, adjust)
	if err != nil {
		return nil, err
	}
	model.Name = name
	model.Card.Description = "Trained by gladflow experiment general, to compare models for any table with."
	model.Card.Family, model.Card.Dimension, model.Card.Samples = f.String(), glad.Counts{f.Dimension}, glad.Counts{m}
	model.Card.Graphs = choose(r, trainingGraphs, 2)
	return model, nil
}
