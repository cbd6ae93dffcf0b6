package benchmark

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A drawing is what the page draws of a metric.
type drawing struct {
	Names  []string
	Charts []struct {
		Rows  []string
		Lines []struct{ Value, Error []float64 }
	}
}

func drawings(t *testing.T, text string) (list []drawing) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<div class="comparisons"><script type="application/json">(.*?)</script>`).FindAllStringSubmatch(text, -1) {
		var d drawing
		if err := json.Unmarshal([]byte(m[1]), &d); err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// The page draws the figures of the document, which lists it; a group of one set has the
// errors of the set.
func TestReport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	b := job.Benchmark{
		Sets: folder(t), Solvers: fast, Undirected: true, Bootstrap: job.Bootstrap{Resamples: "20"}, Metrics: []string{"aupr"},
		Out: out, Report: filepath.Join(out, "report.html"),
	}
	r, err := Run(t.Context(), b, Host{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(b.Report)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Files[len(r.Files)-1]; f.Name != "report.html" || f.Bytes != int64(len(data)) {
		t.Errorf("listed are %+v", r.Files)
	}
	drawn := drawings(t, string(data))
	if len(drawn) != 1 || len(drawn[0].Charts) != 2 || !slices.Equal(drawn[0].Names, fast) || !slices.Equal(drawn[0].Charts[0].Rows, []string{"a", "b"}) {
		t.Fatalf("drawn are %+v", drawn)
	}
	lines := drawn[0].Charts[0].Lines
	for k, solver := range fast {
		group, set := figure(r.Groups[0].Solvers[k].Figures, "aupr"), r.Sets[2].figure(solver, "aupr")
		near := func(got float64, want job.Float) bool { return got-float64(want) < 1e-4 && float64(want)-got < 1e-4 }
		if v, e := lines[k].Value, lines[k].Error; !near(v[0], group.Value) || !near(e[0], group.StandardError) || !near(v[1], set.Value) || !near(e[1], set.StandardError) || e[1] == 0 {
			t.Errorf("%s is drawn at %v ± %v, and is %+v and %+v", solver, v, e, group, set)
		}
	}
	if n := len(drawn[0].Charts[1].Lines); n != len(fast)-1 {
		t.Errorf("the differences of %d solvers are drawn", n)
	}
	for _, want := range []string{"gladflow benchmark ", "--metrics aupr", r.Sets[0].SHA256, "a-one", "benchmark.parquet"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// Of one set with one group alone the figures are the set's own.
	b.Sets, b.Out, b.Report = filepath.Join(b.Sets, "b"), "", filepath.Join(out, "one.html")
	if r, err = Run(t.Context(), b, Host{}); err != nil || r.Files[0].Name != b.Report {
		t.Fatalf("%v, %+v", err, r)
	}
	if data, err = os.ReadFile(b.Report); err != nil || !strings.Contains(string(data), "Figures on the set") {
		t.Errorf("%v: %.2000s", err, data)
	}
}

func TestReportIsRefusedEarly(t *testing.T) {
	sets := folder(t)
	for _, path := range []string{"report.txt", filepath.Join(sets, "a", "one.csv", "r.html"), "s3://bucket/r.html"} {
		_, err := Run(t.Context(), job.Benchmark{Sets: sets, Solvers: fast, Report: path}, Host{})
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" {
			t.Errorf("%s: %v", path, err)
		}
	}
}
