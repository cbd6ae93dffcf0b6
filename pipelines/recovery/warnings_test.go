package recovery

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// gaussian is a table of m samples of d correlated variables v0, v1 …, each of which
// change, if any, has changed.
func gaussian(t *testing.T, m, d int, change func(i, j int, v float64) float64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for j := range d {
		fmt.Fprintf(&b, "v%d%s", j, map[bool]string{true: "\n", false: ","}[j == d-1])
	}
	for i := range m {
		last := 0.0
		for j := range d {
			last = 0.5*last + rng.NormFloat64()
			v := last
			if change != nil {
				v = change(i, j, v)
			}
			fmt.Fprintf(&b, "%.12g%s", v, map[bool]string{true: "\n", false: ","}[j == d-1])
		}
	}
	return testtable.File(t, "t.csv", b.String())
}

// Tails decide what auto is, and are warned of where something else was chosen.
func TestCorrelationAuto(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for name, c := range map[string]struct {
		change func(i, j int, v float64) float64
		want   string
		heavy  bool
	}{
		"gaussian":    {nil, "pearson", false},
		"uniform":     {func(_, _ int, v float64) float64 { return math.Erf(v / 2) }, "pearson", false},
		"exponential": {func(_, _ int, v float64) float64 { return math.Exp(v) }, "normal-scores", true},
		"bad cells": {func(_, _ int, v float64) float64 {
			if rng.IntN(100) == 0 {
				return v + 30
			}
			return v
		}, "normal-scores", true},
		"outlier rows": {func(i, _ int, v float64) float64 {
			if i%25 == 3 {
				return 8 * v
			}
			return v
		}, "normal-scores", true},
		"two samples have it all": {func(i, _ int, v float64) float64 {
			if i < 2 {
				return 1000 * v
			}
			return v
		}, "pearson", false},
	} {
		path := gaussian(t, 120, 20, c.change)
		r, err := Run(context.Background(), job.Job{Input: path, Correlation: job.CorrelationAuto, Solvers: []string{"bcd"}, Penalty: "0.2"}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Input.Correlation != c.want || r.Job.Correlation != job.CorrelationAuto || !strings.HasPrefix(Preparation(r)[0], "correlation: "+c.want) {
			t.Errorf("%s: %s with %d heavy tails, want %s", name, r.Input.Correlation, r.Input.HeavyTails, c.want)
		}
		// The same as when it is named.
		named, err := Run(context.Background(), job.Job{Input: path, Correlation: c.want, Solvers: []string{"bcd"}, Penalty: "0.2"}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if named.Solvers[0].Objective != r.Solvers[0].Objective || named.Input.HeavyTails != r.Input.HeavyTails {
			t.Errorf("%s: objective %v, named %v", name, r.Solvers[0].Objective, named.Solvers[0].Objective)
		}
		pearson, err := Run(context.Background(), job.Job{Input: path, Correlation: "pearson", Solvers: []string{"bcd"}, Penalty: "0.2"}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if warned := slices.ContainsFunc(pearson.Warnings, func(w string) bool { return strings.Contains(w, "heavy tails") }); warned != c.heavy {
			t.Errorf("%s: warnings %q", name, pearson.Warnings)
		}
	}
}

// Kurtosis does not depend on units or on where the variables lie, and neither on how the
// samples come.
func TestHeavyTailsOfAnyUnit(t *testing.T) {
	var first int
	for i, scale := range []float64{1, 1e-150, 1e150} {
		path := gaussian(t, 3000, 3, func(_, j int, v float64) float64 { return (math.Exp(v*float64(j+1)/4) + 5) * scale })
		r, err := Run(context.Background(), job.Job{Input: path, Solvers: []string{"bcd"}, Penalty: "0.2"}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = r.Input.HeavyTails
		}
		if r.Input.HeavyTails != first || first < 1 || first > 2 {
			t.Errorf("scale %g: %d heavy tails, %d first", scale, r.Input.HeavyTails, first)
		}
	}
}

// What is probably not meant is said.
func TestWarnings(t *testing.T) {
	run := func(j job.Job) string {
		t.Helper()
		if j.Penalty == "" {
			j.Penalty = "0.2"
		}
		r, err := Run(context.Background(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(r.Warnings, "\n")
	}
	plain := gaussian(t, 60, 6, nil)
	if got := run(job.Job{Input: plain, Solvers: []string{"bcd"}, Penalty: "edges:3"}); got != "" {
		t.Errorf("warnings on a plain table: %s", got)
	}
	repeated := testtable.File(t, "r.csv", "a,b,c,d,e\n1,2,-2,4,5\n2,5,-4,1,10\n4,3,-8,3,20.0001\n3,9,-6,2,15\n7,1,-14,8,35\n")
	got := run(job.Job{Input: repeated, Solvers: []string{"bcd"}, Shrinkage: "0.1"})
	if !strings.Contains(got, `"a" = "c" = "e"; leave out`) {
		t.Errorf("repeats: %s", got)
	}
	seen := make([]float64, 6)
	sums := gaussian(t, 60, 6, func(_, j int, v float64) float64 {
		if seen[j] = v; j == 5 {
			return math.Round(1000*(seen[1]+seen[4])) / 1000
		}
		return v
	})
	if got := run(job.Job{Input: sums, Solvers: []string{"bcd"}, Penalty: "edges:3"}); !strings.Contains(got, `"v1", "v4", "v5"; leave out one`) {
		t.Errorf("a total: %s", got)
	}
	if look, err := Look(context.Background(), job.Job{Input: sums}, Host{}); err != nil || len(look.Dependent) != 1 || !slices.Equal(look.Dependent[0], []string{"v1", "v4", "v5"}) || !strings.Contains(strings.Join(look.Advice, "\n"), "linear combinations") {
		t.Errorf("of a total, look says %+v, %v", look, err)
	}
	if got := run(job.Job{Input: sums, Solvers: []string{"bcd"}, Penalty: "edges:3", Rows: []string{"#1-6"}}); strings.Contains(got, "linear combinations") {
		t.Errorf("six samples of six variables: %s", got)
	}
	walk := make([]float64, 6)
	series := gaussian(t, 60, 6, func(_, j int, v float64) float64 { walk[j] += v; return walk[j] })
	if got := run(job.Job{Input: series, Solvers: []string{"bcd"}, Penalty: "edges:3"}); !strings.Contains(got, "samples resemble those before them") {
		t.Errorf("a random walk: %s", got)
	}
	labels := gaussian(t, 60, 6, func(i, j int, v float64) float64 {
		if j == 0 {
			return float64(100 + i*i)
		}
		return v
	})
	if got := run(job.Job{Input: labels, Solvers: []string{"bcd"}, Penalty: "edges:3"}); !strings.Contains(got, `the first column, "v0", has whole numbers that rise`) {
		t.Errorf("labels: %s", got)
	}
	square := "a,b,c,d,e\n2,.5,-.25,.125,0\n.5,3,.2,.1,0\n-.25,.2,1,.3,.4\n.125,.1,.3,4,.6\n0,0,.4,.6,2\n"
	if got := run(job.Job{Input: testtable.File(t, "s.csv", square), Solvers: []string{"bcd"}, Shrinkage: "0.1"}); !strings.Contains(got, "the table is symmetric, as a covariance is") {
		t.Errorf("a covariance read as samples: %s", got)
	}
	if got := run(job.Job{Input: testtable.File(t, "s.csv", strings.Replace(square, ".6,2", ".7,2", 1)), Solvers: []string{"bcd"}, Shrinkage: "0.1"}); strings.Contains(got, "symmetric") {
		t.Errorf("as many samples as variables: %s", got)
	}
	groups := gaussian(t, 60, 6, func(i, j int, v float64) float64 {
		if j == 2 {
			return float64(3 + i*i%7/2)
		}
		return v
	})
	if look, err := Look(context.Background(), job.Job{Input: groups}, Host{}); err != nil || len(look.TwoValued) != 0 {
		t.Errorf("of three values look says %v, %v", look.TwoValued, err)
	}
	groups = gaussian(t, 60, 6, func(i, j int, v float64) float64 {
		if j == 2 {
			return 1e6 + float64(i*i%7/4)
		}
		return v
	})
	if look, err := Look(context.Background(), job.Job{Input: groups}, Host{}); err != nil || !slices.Equal(look.TwoValued, []string{"v2"}) || !strings.Contains(strings.Join(look.Advice, ""), "v2 has two different values: if it names groups, leave it out") {
		t.Errorf("of two values look says %v, %q, %v", look.TwoValued, look.Advice, err)
	}
	across := testtable.File(t, "across.csv", "gene,s1,s2,s3\na,1,2,4\nb,2,5,1\nc,4,3,3\nd,3,9,2\n")
	named := testtable.File(t, "named.csv", "id,sample1,sample2,sample3,sample4,sample_5\na,1,2,4,7,3\nb,2,5,1,2,2\nc,4,3,3,1,9\nd,3,9,2,1,4\n")
	for path, label := range map[string]string{across: "gene", named: "id"} {
		if got := run(job.Job{Input: path, IDColumn: label, Solvers: []string{"bcd"}}); !strings.Contains(got, "give the orientation columns") {
			t.Errorf("rows that are variables: %s", got)
		}
		if got := run(job.Job{Input: path, IDColumn: label, Solvers: []string{"bcd"}, Orientation: "columns"}); strings.Contains(got, "orientation") {
			t.Errorf("columns that are samples: %s", got)
		}
		if look, err := Look(context.Background(), job.Job{Input: path}, Host{}); err != nil || !strings.Contains(look.Command, "--orientation columns") {
			t.Errorf("look at rows that are variables: %+v, %v", look, err)
		}
	}
	holes := gaussian(t, 60, 6, func(i, j int, v float64) float64 {
		if (7*i+j)%11 == 0 {
			return math.NaN()
		}
		return v
	})
	for missing, want := range map[string]bool{job.MissingEM: true, job.MissingPairwise: false} {
		if got := run(job.Job{Input: holes, Solvers: []string{"glad", "bcd"}, Missing: missing, Penalty: "edges:3"}); strings.Contains(got, "glad lists few edges after em") != want {
			t.Errorf("missing %s: %s", missing, got)
		}
	}
	if got := run(job.Job{Input: plain, Solvers: []string{"glad"}}); !strings.Contains(got, "none of the solvers takes a penalty") {
		t.Errorf("penalty: %s", got)
	}
	units := gaussian(t, 60, 6, func(_, j int, v float64) float64 { return v * math.Pow(10, float64(2*j)) })
	if got := run(job.Job{Input: units, Solvers: []string{"bcd"}, Correlation: "none"}); !strings.Contains(got, `("v0") to`) || !strings.Contains(got, `("v5")`) {
		t.Errorf("units: %s", got)
	}
	years := testtable.File(t, "y.csv", "2001,x,2002\n1,2,4\n2,5,1\n4,3,3\n3,9,2\n")
	if got := run(job.Job{Input: years, Solvers: []string{"bcd"}}); !strings.Contains(got, "2 of 3 names of variables are numbers (2001, 2002)") {
		t.Errorf("names: %s", got)
	}
}
