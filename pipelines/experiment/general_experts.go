package experiment

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// expertDimension is the largest d that the models of families are trained for; where tables
// have more variables they are trained with as many for each sample.
const expertDimension = 200

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

// openExperts opens the models of the families from the folder, if one is given.
func (p Part) openExperts() (map[string]*glad.Model, error) {
	if p.Experts == "" {
		return nil, nil
	}
	models := make(map[string]*glad.Model)
	for _, name := range p.Families {
		if name == simulate.GraphEmpty {
			continue
		}
		m, err := recovery.OpenModel("experts", filepath.Join(p.Experts, name+".json"), nil)
		if err != nil {
			return nil, &job.Error{Field: "experts", Reason: fmt.Sprintf("the folder has no model %s.json of the family %s that can be read: %v", name, name, err), Err: err}
		}
		models[name] = m
	}
	return models, nil
}

// expert fine-tunes the model general on graphs of one family and size: on correlations, or
// on covariances of variables with equal scales.
func (r *Run) expert(ctx context.Context, f simulate.Family, m int, equal bool) (*glad.Model, error) {
	examples := func(purpose string, n, copied int) ([]solver.Example, error) {
		cases, err := r.tableCases(ctx, purpose, f, n, m, copied)
		if err != nil {
			return nil, err
		}
		var list []solver.Example
		for _, c := range cases {
			if equal {
				list = append(list, c.equal())
			} else {
				list = append(list, c.problem())
			}
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
	start, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		return nil, err
	}
	setting := fmt.Sprintf("general, %s, M=%d", f, m)
	if equal {
		setting += ", equal scales"
	}
	return r.learn(ctx, train.GeneralPosteriorMean, setting, training, validation, func(preset *train.Preset) {
		preset.Starts = []*glad.Model{start}
		preset.Settings.LearningRate /= 3 // large first steps would lose weights that are good
	})
}
