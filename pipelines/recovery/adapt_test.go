package recovery

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// What GLAD was fitted with stands in the result, in run.json and in the report.
func TestAdapt(t *testing.T) {
	const d = 6
	for _, c := range []struct {
		adapt, by, correlation string
		samples                int
	}{
		{job.AdaptExperts, job.AdaptedByLikelihood, "pearson", 60},
		{job.AdaptExperts, job.AdaptedByGate, "pearson", 12},
		{job.AdaptExperts, job.AdaptedByGate, "spearman", 60}, // held-out samples are not ranks
		{job.AdaptEqualScales, job.AdaptedByLikelihood, "none", 60},
		{job.AdaptTrain, job.AdaptedByTraining, "pearson", 20},
	} {
		j := job.Job{
			Input: testtable.CSV(t, d, c.samples), IDColumn: "id", Solvers: []string{"glad", "bcd"}, Penalty: "0.2", Adapt: c.adapt,
			Out: t.TempDir(), Report: filepath.Join(t.TempDir(), "r.html"),
		}
		if c.correlation == "spearman" {
			j.Correlation = c.correlation
		}
		last := 0.0
		result, err := Run(t.Context(), j, Host{Progress: func(u progress.Update) {
			if u.Solver == "glad" && u.Fraction > last {
				last = u.Fraction
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := result.Solvers[0].Adapted
		if got == nil || got.By != c.by || result.Job.Correlation != c.correlation || last != 1 || result.Solvers[1].Adapted != nil {
			t.Fatalf("%s of %d samples: %+v, correlation %s, progress %v", c.adapt, c.samples, got, result.Job.Correlation, last)
		}
		var sum float64
		graphs := 0
		for _, e := range got.Experts {
			sum += float64(e.Weight)
		}
		for _, n := range got.Networks {
			graphs += n.Graphs
		}
		if c.by == job.AdaptedByTraining {
			if graphs != 16 || got.Experts != nil {
				t.Errorf("%+v", got)
			}
		} else if math.Abs(sum-1) > 1e-12 || got.Experts[0].Model != "general" {
			t.Errorf("%+v", got)
		}
		if written := readDocument(t, j.Out).Solvers[0].Adapted; !reflect.DeepEqual(written, got) {
			t.Errorf("run.json has %+v, the result %+v", written, got)
		}
		if page, err := os.ReadFile(j.Report); err != nil || !strings.Contains(string(page), got.String()) {
			t.Errorf("the report does not say %q", got)
		}
		again := j
		again.Out, again.Report = t.TempDir(), ""
		repeated, err := Run(t.Context(), again, Host{})
		if err != nil {
			t.Fatal(err)
		}
		a, b := filepath.Join(j.Out, "glad.precision.parquet"), filepath.Join(again.Out, "glad.precision.parquet")
		if x, y := readBack(t, a), readBack(t, b); !reflect.DeepEqual(x, y) || !reflect.DeepEqual(repeated.Solvers[0].Adapted, got) {
			t.Errorf("%s: a second run differs", c.adapt)
		}
	}
}

func TestAdaptOfACovariance(t *testing.T) {
	path := testtable.File(t, "covariance.csv", "name,a,b,c\na,2,0.5,0\nb,0.5,1,0.2\nc,0,0.2,3\n")
	for _, adapt := range []string{job.AdaptExperts, job.AdaptEqualScales} {
		result, err := Run(t.Context(), job.Job{Input: path, InputKind: job.KindCovariance, IDColumn: "name", Samples: 50, Solvers: []string{"glad"}, Adapt: adapt}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Solvers[0].Adapted; got == nil || got.By != job.AdaptedByGate {
			t.Errorf("%s: %+v", adapt, got)
		}
	}
}

func TestAdaptRefuses(t *testing.T) {
	for reason, j := range map[string]job.Job{
		"choose experts, equal-scales or train": {Adapt: "yes"},
		"only glad is fitted":                   {Adapt: job.AdaptExperts, Solvers: []string{"bcd"}},
		"know nothing of regulators":            {Adapt: job.AdaptExperts, Regulators: "list.txt"},
		"the model grid is fitted to no table":  {Adapt: job.AdaptExperts, Model: "grid"},
		"a correlation has none":                {Adapt: job.AdaptEqualScales, InputKind: job.KindCorrelation, Samples: 9},
		"not the correlation spearman":          {Adapt: job.AdaptEqualScales, Correlation: "spearman"},
		"train works on correlations":           {Adapt: job.AdaptTrain, Correlation: "none"},
		"experts works on correlations":         {Adapt: job.AdaptExperts, Correlation: "none"},
	} {
		j.Input = "x.csv"
		err := Validate(j)
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != "adapt" || !strings.Contains(wrong.Reason, reason) {
			t.Errorf("%+v: error %v; want %q", j, err, reason)
		}
	}
	_, err := Run(t.Context(), job.Job{Input: testtable.CSV(t, 301, 5), IDColumn: "id", Adapt: job.AdaptTrain}, Host{})
	var wrong *job.Error
	if !errors.As(err, &wrong) || wrong.Field != "adapt" || !strings.Contains(wrong.Reason, "at most 300") {
		t.Errorf("error %v", err)
	}
	many := testtable.File(t, "s.csv", "a,b\n1,0.5\n0.5,1\n")
	_, err = Run(t.Context(), job.Job{Input: many, InputKind: job.KindCorrelation, Samples: 2_000_000, Adapt: job.AdaptTrain}, Host{})
	if !errors.As(err, &wrong) || wrong.Field != "adapt" || !strings.Contains(wrong.Reason, "2000000 samples") {
		t.Errorf("error %v", err)
	}
}
