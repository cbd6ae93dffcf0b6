package recovery

import (
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
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

// At a time limit the choice is that among what is finished, by every rule; it is said, and the
// solvers run with it.
func TestTimeLimitOfEveryRule(t *testing.T) {
	input := testtable.CSV(t, 10, 60)
	values := []job.Value{"edges:30"}
	for _, rule := range Penalties() {
		values = append(values, job.Value(rule.Name))
	}
	for _, value := range values {
		t.Run(string(value), func(t *testing.T) {
			t.Parallel() // they wait for the limit
			const limit = 2 * time.Second
			j := job.Job{Input: input, IDColumn: "id", Solvers: []string{"bcd"}, Penalty: value, TimeLimit: job.Duration(limit)}
			whole, err := Run(t.Context(), j, Host{})
			if err != nil || whole.Penalty.TimeLimitReached {
				t.Fatalf("%+v, %v", whole, err)
			}
			reports := 0
			r, err := Run(t.Context(), j, Host{Progress: func(u progress.Update) {
				if u.Stage != progress.Choosing || u.Done {
					return
				}
				if reports++; reports == 4 {
					time.Sleep(limit + 100*time.Millisecond)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			p, all := r.Penalty, whole.Penalty
			if !p.TimeLimitReached || !(p.Rho > 0) || r.Solvers[0].Penalty != p.Rho || r.Solvers[0].Status != "converged" || len(r.Warnings) == 0 || !strings.Contains(strings.Join(r.Warnings, " "), "the time limit was reached while the penalty was chosen") {
				t.Errorf("%+v of %d reports, %q", p, reports, r.Warnings)
			}
			if done, of := len(p.Path)+len(p.Permuted), len(all.Path)+len(all.Permuted); done == 0 || done > of || p.Resamples > all.Resamples {
				t.Errorf("%d of %d were finished", done, of)
			}
		})
	}
}
