package recovery

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// aFactor is the correlation of m samples of d variables that share a cause.
func aFactor(t *testing.T, d, m int) solver.Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([]float64, d*m)
	for i := range m {
		cause := rng.NormFloat64()
		for j := range d {
			rows[i*d+j] = cause + rng.NormFloat64()
		}
	}
	found, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return solver.Problem{S: found.S, Samples: m}
}

// expecting is how long a job is expected to take at one speed.
func expecting(t *testing.T, j job.Job, p solver.Problem) (time.Duration, string) {
	t.Helper()
	r := newRun(j, Host{})
	r.engine = dense.Gonum{}
	var err error
	if r.model, err = glad.Builtin(glad.DefaultModelName); err != nil {
		t.Fatal(err)
	}
	return r.expected(r.parts(p), speed{products: 1e9, vectors: 1e9, threads: 2})
}

// Every solver and every rule takes time, more for more variables, and a time limit bounds it.
func TestExpectedTime(t *testing.T) {
	small, large := aFactor(t, 30, 100), aFactor(t, 90, 100)
	jobs := make(map[string]job.Job)
	for _, name := range SelfSufficient() {
		jobs[name] = job.Job{Solvers: []string{name}, Penalty: "0.3"}
	}
	for _, rule := range Penalties() {
		jobs[rule.Name] = job.Job{Solvers: []string{"bcd"}, Penalty: job.Value(rule.Name)}
	}
	jobs["edges"] = job.Job{Solvers: []string{"bcd"}, Penalty: "edges:50"}
	for name, j := range jobs {
		few, most := expecting(t, j, small)
		many, _ := expecting(t, j, large)
		if !(few > 0 && many > 3*few) || most == "" {
			t.Errorf("%s: %v of 30 variables, %v of 90, most of it for %q", name, few, many, most)
		}
		j.Stability = 20
		if halves, _ := expecting(t, j, large); halves <= many {
			t.Errorf("%s: %v, and with stability %v", name, many, halves)
		}
		j.TimeLimit = 1
		if bounded, _ := expecting(t, j, large); bounded < 1 || bounded > 3 {
			t.Errorf("%s: %v with a limit of 1 ns for each part", name, bounded)
		}
	}
	refit, _ := expecting(t, jobs["refit"], large)
	if cv, what := expecting(t, jobs["cv"], large); cv < 3*refit || what != string(progress.Choosing) {
		t.Errorf("cv takes %v, most for %s, and refit %v", cv, what, refit)
	}
}

// slowly is linear algebra of a machine that is busy.
type slowly struct{ dense.Gonum }

func (s slowly) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	time.Sleep(200 * time.Millisecond)
}

// A run that will take long says so, with what it is for and what is faster; a short one says
// nothing.
func TestForetell(t *testing.T) {
	p := aFactor(t, 400, 30)
	said := func(j job.Job, e dense.Engine) string {
		var text []string
		r := newRun(j, Host{Progress: func(u progress.Update) {
			if u.Done {
				text = append(text, string(u.Stage)+": "+u.Detail)
			}
		}})
		var err error
		if r.model, err = glad.Builtin(glad.DefaultModelName); err != nil {
			t.Fatal(err)
		}
		r.engine, r.place = e, device.Place{}
		r.foretell(t.Context(), p)
		return strings.Join(text, "\n")
	}
	j := job.Job{Input: testtable.CSV(t, 3, 8), Solvers: []string{"admm"}, Penalty: "0.5"}
	if text := said(j, slowly{}); !strings.HasPrefix(text, "estimating the time: about ") || !strings.Contains(text, "most of it for admm") || !strings.Contains(text, "time limit bounds") {
		t.Errorf("said %q", text)
	}
	j.Solvers = []string{"correlation"}
	if text := said(j, slowly{}); text != "" {
		t.Errorf("of a short run it said %q", text)
	}
	j.Solvers, j.TimeLimit = []string{"admm"}, job.Duration(30*time.Second)
	if text := said(j, slowly{}); !strings.Contains(text, "about 30 seconds") || !strings.Contains(text, "the time limit of 30s") {
		t.Errorf("with a time limit it said %q", text)
	}
}
