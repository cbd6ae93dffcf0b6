package recovery

import (
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// Every rule chooses a penalty, with which the solvers run, and says that it did.
func TestEveryPenaltyRule(t *testing.T) {
	for _, rule := range Penalties() {
		j := job.Job{Input: testtable.CSV(t, 5, 40), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: job.Value(rule.Name)}
		r, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatalf("%s: %v", rule.Name, err)
		}
		p := r.Penalty
		if p == nil || p.From != rule.Name || !(p.Rho > 0) || r.Solvers[0].Penalty != p.Rho || r.Solvers[0].Error != "" {
			t.Errorf("%s: penalty %+v, %+v", rule.Name, p, r.Solvers[0])
		}
		if rule.Title == "" {
			t.Errorf("%s has no title", rule.Name)
		}
	}
}
