package recovery

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// incompleteTable is a table of 80 samples of 6 variables, one of them constant, in
// which every tenth value is missing.
func incompleteTable(t *testing.T) (path string, missing int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("a,b,c,d,e,still\n")
	for range 80 {
		last := 0.0
		for range 5 {
			last = 0.6*last + rng.NormFloat64()
			if rng.IntN(10) == 0 {
				b.WriteString("NA,")
				missing++
			} else {
				fmt.Fprintf(&b, "%.6f,", last)
			}
		}
		b.WriteString("7\n")
	}
	return testtable.File(t, "t.csv", b.String()), missing
}

// Every treatment leads to a network, and the result says what was done.
func TestMissingValues(t *testing.T) {
	path, missing := incompleteTable(t)
	for _, how := range []string{job.MissingRows, job.MissingPairwise, job.MissingEM, job.MissingMean} {
		j := job.Job{Input: path, Missing: how, Constant: job.ConstantDrop, Solvers: []string{"bcd", "glad", "pcor"}, Penalty: "0.1"}
		r, err := Run(context.Background(), j, Host{})
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		in := r.Input
		if in.Variables != 5 || in.VariablesRead != 6 || len(in.Constant) != 1 || in.Constant[0] != "still" || len(r.Variables) != 5 {
			t.Errorf("%s: %+v", how, in)
		}
		if in.Missing == nil || in.Missing.Values != missing {
			t.Fatalf("%s: %+v", how, in.Missing)
		}
		switch how {
		case job.MissingRows:
			if in.Samples != 80-in.Missing.Samples || in.SamplesRead != 80 || len(r.Warnings) == 0 {
				t.Errorf("%+v, %q", in, r.Warnings)
			}
		case job.MissingMean:
			if in.Samples != 80 || in.SamplesRead != 0 {
				t.Errorf("%+v", in)
			}
		default:
			if in.Samples >= 80 || in.Samples < in.Missing.LeastPair || (how == job.MissingEM) != (in.Missing.Iterations > 1) {
				t.Errorf("%s: %+v, %+v", how, in, in.Missing)
			}
		}
		if r.Solvers[0].Edges == 0 {
			t.Errorf("%s: no edge", how)
		}
		lines := Preparation(r)
		if len(lines) != 2 || !strings.Contains(lines[0], "still") || !strings.Contains(lines[1], fmt.Sprintf("%d values", missing)) {
			t.Errorf("%s: %q", how, lines)
		}
	}
}

// What is refused says how much there is of it and which option accepts it.
func TestTableRefused(t *testing.T) {
	path, missing := incompleteTable(t)
	few := testtable.File(t, "few.csv", "a,b\n1,NA\nNA,2\n3,4\n5,NA\n")
	logs := testtable.File(t, "logs.csv", "a,b\n1,2\n0,3\n4,1\n")
	still := testtable.File(t, "still.csv", "a,b,c\n1,2,5\n1,3,5\n1,4,5\n")
	for name, c := range map[string]struct {
		job  job.Job
		want []string
	}{
		"missing":         {job.Job{Input: path}, []string{fmt.Sprintf("the first of %d", missing), "of 80", "5 variables of 6", "--missing pairwise"}},
		"too few whole":   {job.Job{Input: few, Missing: job.MissingRows}, []string{"--missing", "1 of 4 samples", "pairwise"}},
		"apart":           {job.Job{Input: few, Missing: job.MissingPairwise}, []string{"1 samples in common"}},
		"constant":        {job.Job{Input: still}, []string{`column "a"`, "all 3 samples are 1", `constant too: "c"`, "--constant drop"}},
		"no logarithm":    {job.Job{Input: logs, Transform: job.TransformLog}, []string{"--transform", `variable "a"`, "value 0 in sample 2", "log1p"}},
		"of a covariance": {job.Job{Input: logs, InputKind: job.KindCovariance, Samples: 5, Missing: job.MissingEM}, []string{"--missing", "covariance"}},
		"whole samples":   {job.Job{Input: path, Missing: job.MissingEM, Solvers: []string{"expression"}}, []string{"--solvers", "rows or mean"}},
		"all constant":    {job.Job{Input: testtable.File(t, "all.csv", "a\n1\n1\n"), Constant: job.ConstantDrop}, []string{"no variable varies"}},
		"thousands":       {job.Job{Input: few, Thousands: "."}, []string{"--thousands", "decimal mark too"}},
		"decimal":         {job.Job{Input: few, Decimal: ".."}, []string{"--decimal"}},
		"an empty name":   {job.Job{Input: few, Exclude: []string{""}}, []string{"--exclude", "empty"}},
	} {
		_, err := Run(context.Background(), c.job, Host{})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		text := job.ErrorText(err, job.FlagOption)
		for _, want := range c.want {
			if !strings.Contains(text, strings.TrimPrefix(want, "--")) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
	}
}

// The variables of the largest variance, after the logarithm, in their order.
func TestTopVariance(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c,d\n")
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		x := rng.NormFloat64()
		fmt.Fprintf(&b, "%g,%g,%g,%g\n", math.Exp(2*x+rng.NormFloat64()), math.Exp(0.1*rng.NormFloat64()), 1000*math.Exp(0.2*rng.NormFloat64()), math.Exp(x))
	}
	r, err := Run(context.Background(), job.Job{Input: testtable.File(t, "t.csv", b.String()), Transform: job.TransformLog, TopVariance: 2, Solvers: []string{"bcd"}, Penalty: "0.1"}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(r.Variables, "") != "ad" || r.Input.LeastVariance <= 0 || r.Solvers[0].Edges != 1 {
		t.Errorf("%q, %+v", r.Variables, r.Input)
	}
}
