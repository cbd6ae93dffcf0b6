package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// A learner is a learned solver as the figures name it.
type learner struct {
	name         string // in figures and tables
	architecture string // of train.NewPreset
	suffix       string // of the built-in model er-d100-m…
}

var (
	literalGLAD  = learner{"GLAD, literal", train.Literal, "-literal"}
	featuresGLAD = learner{"GLAD, best recipe", train.Features, "-recipe"}
	meanGLAD     = learner{"GLAD, posterior mean", train.UntiedPosteriorMean, ""}
)

// The paper trains on 10 graphs with 2 covariances each.
const (
	trainingGraphs   = 10
	trainingCopies   = 2
	validationGraphs = 12
)

// learn trains a model of an architecture. Its seeds come from name, which says
// what it is trained for; adjust, if set, changes the preset before.
func (r *Run) learn(ctx context.Context, architecture, name string, training, validation []solver.Example, adjust func(*train.Preset)) (*glad.Model, error) {
	preset, err := train.NewPreset(architecture, r.seed(forTraining, architecture+" for "+name))
	if err != nil {
		return nil, err
	}
	s := &preset.Settings
	s.Backend = glad.CPU{Engine: r.Engine, Workers: r.Workers}
	if adjust != nil {
		adjust(&preset)
	}
	if r.Quick {
		s.Steps = min(s.Steps, 30)
		preset.Starts = preset.Starts[:1]
	}
	result, err := train.Run(ctx, preset.Starts, training, validation, *s)
	if err != nil {
		return nil, fmt.Errorf("training %s for %s: %w", architecture, name, err)
	}
	return result.Model, nil
}

// learnFamily trains on the paper's number of graphs of a family.
func (r *Run) learnFamily(ctx context.Context, architecture string, f simulate.Family, m int, adjust func(*train.Preset)) (*glad.Model, error) {
	training, validation, err := r.trainingCases(ctx, f, m)
	if err != nil {
		return nil, err
	}
	return r.learn(ctx, architecture, fmt.Sprintf("%s, M=%d", f, m), training, validation, adjust)
}

func (r *Run) trainingCases(ctx context.Context, f simulate.Family, m int) (training, validation []solver.Example, err error) {
	for k := range trainingCopies {
		// A copy draws the same graphs again, and other samples.
		more, err := r.copies(ctx, forTraining, f, trainingGraphs, m, k)
		if err != nil {
			return nil, nil, err
		}
		training = append(training, more...)
	}
	validation, err = r.cases(ctx, forValidation, f, choose(r, validationGraphs, 4), m)
	return training, validation, err
}

// erName is the name of the built-in model for erdosRenyi(100) and m samples.
func (l learner) erName(m int) string { return fmt.Sprintf("er-d100-m%d%s", m, l.suffix) }

// erModel is the model for Erdős-Rényi graphs of d = 100, p = 0.1: the built-in one
// where there is one, otherwise one that is trained here.
func (r *Run) erModel(ctx context.Context, l learner, m int) (*glad.Model, error) {
	name := l.erName(m)
	if slices.Contains(glad.BuiltinNames(), name) {
		return glad.Builtin(name)
	}
	return cached(r, "model "+name, func() (*glad.Model, error) {
		return r.learnFamily(ctx, l.architecture, erdosRenyi(erDimension), m, nil)
	})
}

// erOrigin says where the models of erModel come from.
func (r *Run) erOrigin() string {
	all, builtin := 0, 0
	for _, m := range r.erSamples() {
		for _, l := range []learner{literalGLAD, featuresGLAD, meanGLAD} {
			all++
			if slices.Contains(glad.BuiltinNames(), l.erName(m)) {
				builtin++
			}
		}
	}
	if builtin == all {
		return "GLAD's models are the built-in er-d100-m…"
	}
	return fmt.Sprintf("of GLAD's %d models er-d100-m… %d are built in and the others trained here", all, builtin)
}

// solve runs a model on every case.
func (r *Run) solve(ctx context.Context, m *glad.Model, cases []solver.Example) ([]*solver.Estimate, error) {
	return tune.Each(ctx, cases, r.Workers, func(i int, c solver.Example) (*solver.Estimate, error) {
		est, err := glad.Solver{Model: m, Backend: glad.CPU{Engine: r.Engine}}.Solve(ctx, c.Problem())
		if err != nil {
			return nil, fmt.Errorf("model %s, graph %d: %w", m.Name, i, err)
		}
		return est, ctx.Err()
	})
}

// supports are the Z of estimates.
func supports(estimates []*solver.Estimate) []*dense.Sym {
	z := make([]*dense.Sym, len(estimates))
	for i, e := range estimates {
		z[i] = e.Support
	}
	return z
}

// modelNMSE is the NMSE of the sparse estimates of a model.
func (r *Run) modelNMSE(ctx context.Context, m *glad.Model, cases []solver.Example) (value, standardError float64, err error) {
	estimates, err := r.solve(ctx, m, cases)
	if err != nil {
		return 0, 0, err
	}
	return nmse(supports(estimates), cases)
}
