package modeltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// Plan is that of a model in training: its values may change.
func Plan(m *glad.Model) (*glad.Plan, error) {
	var p planner
	_, err := glad.NewDifferentiator(m, &p)
	return p.result(m, err)
}

// FixedPlan is that of a model that solves.
func FixedPlan(m *glad.Model) (*glad.Plan, error) {
	var p planner
	_, err := glad.Solver{Model: m, Backend: &p}.Solve(context.Background(), solver.Problem{S: dense.Identity(1), Samples: 2})
	return p.result(m, err)
}

// A planner is a glad.Backend that keeps the plan and opens nothing.
type planner struct{ plan *glad.Plan }

var errPlanned = errors.New("only the plan was wanted")

func (p *planner) Name() string { return "planner" }

func (p *planner) Open(plan *glad.Plan) (glad.Session, error) {
	p.plan = plan
	return nil, errPlanned
}

func (p *planner) result(m *glad.Model, err error) (*glad.Plan, error) {
	if !errors.Is(err, errPlanned) {
		return nil, fmt.Errorf("there is no plan of the model %s: %w", m.Name, err)
	}
	return p.plan, nil
}
