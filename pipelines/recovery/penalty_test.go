package recovery

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
)

func TestPenaltyNamed(t *testing.T) {
	for _, p := range Penalties() {
		if got, ok := PenaltyNamed(p.Name); !ok || got != p || p.Title == "" {
			t.Errorf("%+v is described as %+v, %v", p, got, ok)
		}
	}
	for _, name := range []string{"", "job", "matrix"} { // other values of PenaltyResult.From
		if p, ok := PenaltyNamed(name); ok {
			t.Errorf("%q is the rule %+v", name, p)
		}
	}
}

// A rule is all that there is to a way to choose the penalty.
func TestPenaltyRule(t *testing.T) {
	rule := penaltyRule{
		PenaltyInfo: PenaltyInfo{Name: "half", Title: "taking a half"},
		choose:      func(context.Context, *run, solver.Problem) (float64, error) { return 0.5, nil },
	}
	rules := append(penaltyRules(), rule)
	for _, c := range []struct {
		job job.Job
		rho float64
	}{
		{job.Job{Penalty: "half", PenaliseDiagonal: true}, 0.5},
		{job.Job{Penalty: "0.25"}, 0.25},
		{job.Job{Penalty: "half", Solvers: []string{"glad"}}, 0}, // which takes none
	} {
		r := newRun(c.job, Host{})
		p, err := r.choosePenalty(t.Context(), solver.Problem{}, rules)
		if err != nil || p.Rho != c.rho || p.Diagonal != c.job.PenaliseDiagonal {
			t.Errorf("%+v: penalty %+v, %v; want %v", c.job, p, err, c.rho)
		}
	}
	var names []string
	for _, r := range penaltyRules() {
		names = append(names, r.Name)
	}
	if known := Facts(); !slices.Equal(known.Words["penalty"], names) || known.Defaults["penalty"] != names[0] {
		t.Errorf("the rules are %v, and known are %v", names, known)
	}
	for _, f := range job.Fields(&job.Job{}, Facts()) {
		if f.Key == "penalty" && !strings.Contains(f.Description, names[0]) {
			t.Errorf("the default rule is %s, and the penalty is described by %q", names[0], f.Description)
		}
	}
}

// The keys that solvers name are keys of a job.
func TestObjectiveOption(t *testing.T) {
	keys := make(map[string]bool)
	for _, f := range job.Fields(&job.Job{}, Facts()) {
		keys[f.Key] = true
	}
	for _, name := range SolverNames() {
		if key := ObjectiveOption(name); key != "" && !keys[key] {
			t.Errorf("%s names the option %q, which there is not", name, key)
		}
	}
	if ObjectiveOption("am") != "am_lambda" || ObjectiveOption("bcd") != "" || ObjectiveOption("none") != "" {
		t.Error("am has the option am_lambda, and no other solver has one")
	}
}
