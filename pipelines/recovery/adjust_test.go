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

// adjustTable has 60 samples of three variables of which age and batch make two look
// related, the two covariates, a third that says what age does, a group that is one batch,
// and weights.
func adjustTable(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("id,batch,site,a,b,c,age,months,w\n")
	for i := range 60 {
		age, batch := 20+50*rng.Float64(), i%3
		shift := age/5 + 10*float64(batch*batch)
		c := rng.NormFloat64()
		fmt.Fprintf(&b, "s%d,%s,site%d,%.6f,%.6f,%.6f,%.4f,%.4f,%d\n", i, []string{"x", "y", "z"}[batch], min(batch, 1),
			shift+rng.NormFloat64(), shift+c+rng.NormFloat64(), c+rng.NormFloat64(), age, 12*age, i%5)
	}
	return testtable.File(t, "t.csv", b.String())
}

func runAdjusted(t *testing.T, j job.Job) *job.Result {
	t.Helper()
	j.IDColumn, j.Solvers, j.Penalty = "id", []string{"bcd"}, "0.25"
	r, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func strongest(t *testing.T, r *job.Result) string {
	t.Helper()
	n := r.Solvers[0].Network
	if n == nil || len(n.Strongest) == 0 {
		t.Fatal("no edge")
	}
	return n.Strongest[0].Source + "-" + n.Strongest[0].Target
}

// The edge that covariates make goes, the one that is there stays, and M counts what they
// take.
func TestAdjust(t *testing.T) {
	path := adjustTable(t)
	if r := runAdjusted(t, job.Job{Input: path, Columns: []string{"a", "b", "c"}}); strongest(t, r) != "a-b" || r.Input.Samples != 60 {
		t.Errorf("the strongest edge of %d samples without covariates is %s, want that of a and b", r.Input.Samples, strongest(t, r))
	}
	r := runAdjusted(t, job.Job{Input: path, Columns: []string{"?"}, Exclude: []string{"w"}, Adjust: []string{"batch", "age", "site", "months"}})
	in := r.Input
	if in.Samples != 57 || in.SamplesRead != 60 || in.Variables != 3 || in.Adjusted == nil || in.Adjusted.Rank != 3 {
		t.Fatalf("%+v, %+v", in, in.Adjusted)
	}
	if got := in.Adjusted.Covariates; len(got) != 4 || got[0] != (job.CovariateResult{Name: "batch", Words: 3}) || got[1] != (job.CovariateResult{Name: "age"}) {
		t.Errorf("%+v", got)
	}
	if len(in.Adjusted.Redundant)+len(in.Adjusted.PartlyRedundant) != 2 {
		t.Errorf("%+v: want site or batch, and age or months, to say nothing more", in.Adjusted)
	}
	if strongest(t, r) != "b-c" || r.Solvers[0].Edges != 1 {
		t.Errorf("%d edges, the strongest %s, want that of b and c only", r.Solvers[0].Edges, strongest(t, r))
	}
	lines := strings.Join(Preparation(r), "\n")
	if !strings.Contains(lines, "adjusted for batch (3 groups), age, site (2 groups) and months, which take 3 degrees of freedom, so that the samples count as 57") {
		t.Errorf("%s", lines)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "determined by the other") && !strings.Contains(strings.Join(r.Warnings, "\n"), "says nothing besides") {
		t.Errorf("%q", r.Warnings)
	}
}

func TestWeights(t *testing.T) {
	path := adjustTable(t)
	r := runAdjusted(t, job.Job{Input: path, Exclude: []string{"batch", "site", "months"}, Weights: "w", Adjust: []string{"age"}})
	in := r.Input
	// Twelve samples of each weight from 0 to 4: (12·10)²/(12·30) = 40, less one for age.
	if in.Weighted == nil || math.Abs(in.Weighted.Samples-40) > 1e-9 || in.Weighted.Zero != 12 || in.Samples != 39 || in.Variables != 3 {
		t.Fatalf("%+v, %+v", in, in.Weighted)
	}
	if lines := strings.Join(Preparation(r), "\n"); !strings.Contains(lines, `of column "w", which count as 40.0 equal samples, 12 of weight 0 left out`) {
		t.Errorf("%s", lines)
	}
	few := runAdjusted(t, job.Job{Input: path, Exclude: []string{"batch", "site", "months", "w"}, ExcludeRows: []string{"s5*", "#1-10"}})
	if few.Input.Samples != 40 || few.Input.Excluded != 20 || few.Input.SamplesRead != 60 {
		t.Errorf("%+v", few.Input)
	}
}

// Samples that miss a covariate are left out where that is asked for, and counted.
func TestAdjustMissing(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,age\n")
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 30 {
		age := fmt.Sprint(rng.Float64())
		if i%10 == 3 {
			age = "NA"
		}
		fmt.Fprintf(&b, "%g,%g,%s\n", rng.NormFloat64(), rng.NormFloat64(), age)
	}
	j := job.Job{Input: testtable.File(t, "t.csv", b.String()), Adjust: []string{"age"}, Missing: job.MissingRows, Solvers: []string{"bcd"}, Penalty: "0.1"}
	r, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	if in := r.Input; in.Samples != 26 || in.SamplesRead != 30 || in.Missing == nil || in.Missing.Values != 3 || in.Missing.Samples != 3 {
		t.Errorf("%+v", in)
	}
}

func TestAdjustRefused(t *testing.T) {
	path := adjustTable(t)
	all := testtable.File(t, "all.csv", "a,b,age,w,neg,none,word,own\n1,5,1,1,1,0,x,p\n2,3,2,0,-1,0,y,q\n3,9,3,0,1,0,x,r\n4,1,4,0,1,0,y,s\n6,2,6,0,1,0,x,t\n")
	missing := testtable.File(t, "missing.csv", "a,b,age\n1,5,1\n2,3,\n3,9,3\n4,1,4\n")
	of := func(input string, j job.Job) job.Job { j.Input = input; return j }
	for name, c := range map[string]struct {
		job  job.Job
		want []string
	}{
		"explained":       {of(all, job.Job{Columns: []string{"a", "b"}, Adjust: []string{"age"}}), []string{`column "a"`, "covariates explain all", "constant drop"}},
		"one weight":      {of(all, job.Job{Columns: []string{"a", "b"}, Weights: "w"}), []string{"weights", "1 of 5 samples", "above zero"}},
		"no weight":       {of(all, job.Job{Columns: []string{"a", "b"}, Weights: "none"}), []string{"weights", "0 of 5 samples"}},
		"a negative":      {of(all, job.Job{Columns: []string{"a", "b"}, Weights: "neg"}), []string{"weights", "sample 2", "not negative"}},
		"words":           {of(all, job.Job{Columns: []string{"a", "b"}, Weights: "word"}), []string{"weights", "holds words"}},
		"own words":       {of(all, job.Job{Columns: []string{"a", "b"}, Adjust: []string{"own"}}), []string{"adjust", "different word in every sample"}},
		"a missing one":   {of(missing, job.Job{Adjust: []string{"age"}}), []string{"missing", `"age" in sample 2`, "rows"}},
		"pairwise":        {of(all, job.Job{Adjust: []string{"age"}, Missing: job.MissingPairwise}), []string{"adjust", "missing pairwise"}},
		"ranks":           {of(path, job.Job{Weights: "w", Correlation: "spearman"}), []string{"weights", "spearman"}},
		"twice":           {of(path, job.Job{Weights: "w", Adjust: []string{"w"}}), []string{"weights", "covariate too"}},
		"Ledoit-Wolf":     {of(path, job.Job{Weights: "w", Shrinkage: job.ShrinkageLedoitWolf}), []string{"weights", "ledoit-wolf"}},
		"whole samples":   {of(path, job.Job{Weights: "w", Solvers: []string{"clr"}}), []string{"solvers", "equal weight"}},
		"of a covariance": {of(path, job.Job{InputKind: job.KindCovariance, Samples: 9, Adjust: []string{"age"}}), []string{"adjust", "covariance"}},
		"an empty label":  {of(path, job.Job{Rows: []string{""}}), []string{"rows", "empty"}},
	} {
		if c.job.Solvers == nil {
			c.job.Solvers = []string{"bcd"}
		}
		_, err := Run(context.Background(), c.job, Host{})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		text := job.ErrorText(err, job.FlagOption)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
	}
}

// By cv samples that are held out count by their weights: those of next to none, which are far
// out, say nothing of the likelihood, and weights that are all the same are none.
func TestHeldOutSamplesHaveWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const m = 120
	var b strings.Builder
	b.WriteString("a,b,c,d,same,trust\n")
	for i := range m {
		far, trust := 1.0, 1.0
		if i%3 == 0 {
			far, trust = 100, 1e-9
		}
		x := rng.NormFloat64()
		fmt.Fprintf(&b, "%.6f,%.6f,%.6f,%.6f,3,%g\n", far*x, far*(x+rng.NormFloat64()), far*rng.NormFloat64(), far*rng.NormFloat64(), trust)
	}
	path := testtable.File(t, "w.csv", b.String())
	chosen := func(j job.Job) job.PathPoint {
		t.Helper()
		j.Input, j.Solvers, j.Select = path, []string{"bcd"}, "cv"
		r, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Penalty.Path {
			if p.Chosen {
				return p
			}
		}
		t.Fatal("nothing is chosen")
		return job.PathPoint{}
	}
	none := chosen(job.Job{Exclude: []string{"same", "trust"}})
	same := chosen(job.Job{Exclude: []string{"trust"}, Weights: "same"})
	if math.Abs(float64(none.Penalty-same.Penalty)) > 1e-9 || math.Abs(float64(none.Criterion-same.Criterion)) > 1e-9 || math.Abs(float64(none.CriterionError-same.CriterionError)) > 1e-9 {
		t.Errorf("equal weights give %+v, and none %+v", same, none)
	}
	trusted := chosen(job.Job{Exclude: []string{"same"}, Weights: "trust"})
	if math.Abs(float64(trusted.Criterion)+2) > 0.3 || trusted.Edges < 1 || trusted.Edges > 4 {
		t.Errorf("of four variables the held-out likelihood is %v at %v edges", trusted.Criterion, trusted.Edges)
	}
}
