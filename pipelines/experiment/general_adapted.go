package experiment

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// Names of contenders that are fitted to the table.
const (
	adaptedGeneral = "--adapt"
	adaptedEqual   = "--adapt " + job.AdaptEqualScales
)

// adapted is the default model fitted to the table: experts averaged by the likelihood of
// held-out samples, or by the gate where these are few.
func (r *Run) adapted(set *adapt.Set) contender {
	name := adaptedGeneral
	if set.Covariances() {
		name = adaptedEqual
	}
	return contender{name: name, equalOnly: set.Covariances(), answer: func(ctx context.Context, c *tableCase) (*answer, error) {
		p := c.problem()
		if set.Covariances() {
			p = c.equal()
		}
		est, _, err := adapt.Solver{
			Set: set, Samples: c.rows, Standardised: !set.Covariances(), Backend: glad.CPU{Engine: r.Engine}, Engine: r.Engine,
		}.Adapt(ctx, p.Problem())
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = est.Status.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if set.Covariances() {
			return equalAnswer(ctx, est)
		}
		return &answer{standard: est.Support, score: normalised(est.Precision)}, nil
	}}
}

// adaptable are the contenders that fit the default model to the table.
func (g *generalRun) adaptable() ([]contender, error) {
	var all []contender
	for _, name := range []string{adapt.Standardised, adapt.EqualScales} {
		set, err := adapt.Builtin(name)
		if err != nil {
			return nil, err
		}
		all = append(all, g.adapted(set))
	}
	return all, nil
}
