package recovery

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// Field and penalty name the same rule, and a run repeats it.
func TestSelect(t *testing.T) {
	for _, rule := range Penalties() {
		j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"bcd"}, Select: rule.Name}
		r, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(rule.Name, err)
		}
		p := r.Penalty
		if p.From != rule.Name || p.How == "" || string(r.Job.Penalty) != rule.Name || r.Job.Select != "" {
			t.Errorf("%s: %+v of the job with penalty %s", rule.Name, p, r.Job.Penalty)
		}
		if rule.Name == ric != (p.Path == nil) || rule.Name == ric != (p.Permuted != nil) || rule.NeedsSamples != (p.Resamples > 0) {
			t.Errorf("%s: %+v", rule.Name, p)
		}
		chosen := slices.IndexFunc(p.Path, func(q job.PathPoint) bool { return q.Chosen })
		if chosen >= 0 && p.Path[chosen].Penalty != p.Rho || chosen < 0 && p.Path != nil {
			t.Errorf("%s: %v chosen of %+v", rule.Name, p.Rho, p.Path)
		}
		again, err := Run(t.Context(), r.Job, Host{})
		if err != nil || again.Penalty.Rho != p.Rho {
			t.Errorf("%s: %v, and again %+v, %v", rule.Name, p.Rho, again, err)
		}
	}
}

// Every way to read samples goes with rules that divide them.
func TestSelectOfPreparedTables(t *testing.T) {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(2, 5))
	b.WriteString("a,b,c,d,e\n")
	for i := range 40 {
		x := rng.NormFloat64()
		fmt.Fprintf(&b, "%v,%v,%v,", x, x+rng.NormFloat64(), math.Exp(x))
		if i%9 == 4 {
			b.WriteString(",")
		} else {
			fmt.Fprintf(&b, "%v,", rng.NormFloat64())
		}
		fmt.Fprintf(&b, "%v\n", rng.NormFloat64())
	}
	input := testtable.File(t, "t.csv", b.String())
	for _, rule := range []string{cv, stars, ric} {
		for name, j := range map[string]job.Job{
			"rows": {Missing: "rows"}, "pairwise": {Missing: "pairwise"}, "em": {Missing: "em"}, "mean": {Missing: "mean"},
			"ranks": {Missing: "pairwise", Correlation: "spearman"}, "covariance": {Missing: "rows", Correlation: "none", Divisor: "m-1"},
			"shrunk": {Missing: "rows", Shrinkage: "ledoit-wolf"}, "variables": {Missing: "rows", TopVariance: 4},
		} {
			j.Input, j.Select, j.Solvers = input, rule, []string{"bcd"}
			r, err := Run(t.Context(), j, Host{})
			if err != nil || !(r.Penalty.Rho > 0) {
				t.Errorf("%s, %s: %v", rule, name, err)
			}
		}
	}
}

// A number of edges is what the graphical lasso has.
func TestPenaltyByEdges(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"bcd", "gista"}, Penalty: "edges:6"}
	r, err := Run(t.Context(), j, Host{})
	if err != nil || r.Solvers[0].Edges != 6 || r.Solvers[1].Edges != 6 || r.Penalty.From != "edges" || r.Penalty.How == "" {
		t.Errorf("%+v, %v", r, err)
	}
	j.Penalty = "edges:29"
	if _, err := Run(t.Context(), j, Host{}); err == nil || !strings.Contains(job.ErrorText(err, job.FieldOption), "8 variables have 28 pairs") {
		t.Errorf("29 edges of 28 pairs: %v", err)
	}
}

// Rules that need samples, and options of others, are refused before anything is read.
func TestSelectRefuses(t *testing.T) {
	for _, c := range []struct {
		field, text string
		job         job.Job
	}{
		{"select", "needs the samples", job.Job{InputKind: "covariance", Samples: 9, Select: stars}},
		{"penalty", "needs the samples", job.Job{InputKind: "correlation", Samples: 9, Penalty: ric}},
		{"select", "leave one out", job.Job{Select: cv, Penalty: "0.1"}},
		{"select", "penalty matrix", job.Job{Select: cv, PenaltyMatrix: "m.csv"}},
		{"select", "unknown", job.Job{Select: "best"}},
		{"penalty", "number of edges", job.Job{Penalty: "edges:0"}},
		{"select_gamma", "refit or ebic", job.Job{Select: cv, SelectGamma: 0.1}},
		{"select_gamma", "no weight", job.Job{SelectGamma: 2}},
		{"select_threshold", "stars", job.Job{SelectThreshold: 0.1}},
		{"select_threshold", "no instability", job.Job{Select: stars, SelectThreshold: 0.5}},
		{"select_resamples", "two at least", job.Job{Select: cv, SelectResamples: 1}},
		{"select_resamples", "stars, cv or ric", job.Job{SelectResamples: 9}},
		{"select_seed", "negative", job.Job{Select: ric, SelectSeed: -1}},
	} {
		c.job.Input = "x.csv"
		err := Validate(c.job)
		e, ok := err.(*job.Error)
		if !ok || e.Field != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v, want %s: … %s", c.job, err, c.field, c.text)
		}
	}
}

// A graph that is empty or dense says why, and what to try.
func TestGraphsAreWarnedOf(t *testing.T) {
	noise := testtable.File(t, "noise.csv", func() string {
		rng := rand.New(rand.NewPCG(1, 1))
		var b strings.Builder
		b.WriteString("a,b,c,d,e,f\n")
		for range 30 {
			for j := range 6 {
				fmt.Fprintf(&b, "%v%c", rng.NormFloat64(), ",\n"[j/5])
			}
		}
		return b.String()
	}())
	for _, c := range []struct{ penalty, want string }{
		{ebic, "bcd has no edge: by ebic, no penalty fits 30 samples of 6 variables"},
		{"0.99", "bcd has no edge: the penalty 0.99 is above every relation"},
		{"0.001", "of 15 pairs, more than a third: the penalty 0.001 is small"},
		{"edges:10", "bcd joins 10 of 15 pairs, more than a third, as was asked for"},
	} {
		r, err := Run(t.Context(), job.Job{Input: noise, Solvers: []string{"bcd"}, Penalty: job.Value(c.penalty)}, Host{})
		if err != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), c.want) {
			t.Errorf("%s: warnings %q, %v", c.penalty, r.Warnings, err)
		}
	}
}
