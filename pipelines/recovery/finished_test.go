package recovery

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

// The page of a finished run is, byte by byte, the page that the run itself has left, whatever
// the format of its lists; also where it replaces that one.
func TestReportOfFinishedRun(t *testing.T) {
	input := testtable.CSV(t, 10, 60)
	reference := testtable.File(t, "r.tsv", testtable.Star)
	regulators := testtable.File(t, "regulators.txt", "v1\nv4\n")
	for format, c := range map[string]job.Job{
		"parquet": {Reference: reference}, "csv": {Stability: 4, Reference: reference}, "arrow": {PValues: job.PValuesAuto}, "graphml": {Edges: job.EdgesAll}, "cyjs": {Regulators: regulators},
	} {
		j := c
		j.Input, j.IDColumn, j.Penalty, j.Format, j.Out = input, "id", "0.1", format, t.TempDir()
		j.Solvers = []string{"bcd", "admm", "clr"}
		if j.Edges == "" && j.Regulators == "" {
			j.Solvers = append(j.Solvers, "glad")
		}
		if _, err := Run(t.Context(), j, Host{}); err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(j.Out, job.ReportFile)
		again := filepath.Join(t.TempDir(), "again.html")
		var pages [3]string
		for k, to := range []string{own, again, own} {
			if k > 0 {
				written, missing, err := Report(t.Context(), job.Reporting{Folder: j.Out, Report: to}, table.Files{})
				if err != nil || written.Name != to || len(missing) > 0 {
					t.Fatalf("%s: %+v, %q, %v", format, written, missing, err)
				}
			}
			text, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			pages[k] = string(text)
		}
		if pages[0] != pages[1] || pages[0] != pages[2] {
			at := 0
			for at < min(len(pages[0]), len(pages[1])) && pages[0][at] == pages[1][at] {
				at++
			}
			t.Errorf("%s: from byte %d on the pages have %.200s and %.200s", format, at, pages[0][at:], pages[1][at:])
		}
		if convergence := drawnData(t, pages[1], "charts"); !strings.Contains(pages[1], ">Convergence<") || len(convergence) < 2 {
			t.Errorf("%s: the page lacks the convergence", format)
		}
	}
}

// A run.json of before has neither iterations nor curves, and the page says so.
func TestReportOfOlderRun(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 6, 60), IDColumn: "id", Penalty: "0.1", Solvers: []string{"bcd"}, Reference: testtable.File(t, "r.tsv", testtable.Star), Out: t.TempDir()}
	if _, err := Run(t.Context(), j, Host{}); err != nil {
		t.Fatal(err)
	}
	result, err := readResult(filepath.Join(j.Out, job.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	result.Solvers[0].Course, result.Solvers[0].Curves = nil, nil
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(j.Out, job.RunFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing, err := Report(t.Context(), job.Reporting{Folder: j.Out, Report: filepath.Join(t.TempDir(), "p.html")}, table.Files{})
	if err != nil || len(missing) != 2 || !strings.HasPrefix(missing[0], "How bcd came to where it stopped is not shown") || !strings.HasPrefix(missing[1], "The curves of bcd are not shown") {
		t.Errorf("%q, %v", missing, err)
	}
}

// What is not there any more, or is of another run, is left out with a sentence.
func TestReportOfWhatIsLeft(t *testing.T) {
	reference := testtable.File(t, "r.tsv", testtable.Star)
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Penalty: "0.1", Solvers: []string{"bcd", "admm", "correlation"}, Reference: reference, Format: "csv", Out: t.TempDir()}
	if _, err := Run(t.Context(), j, Host{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(reference, []byte("v0\tv1\t1\nv0\tv2\t0\n"), 0o600),
		os.Remove(filepath.Join(j.Out, "bcd.edges.csv")),
		os.Rename(filepath.Join(j.Out, "correlation.edges.csv"), filepath.Join(j.Out, "admm.edges.csv")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// The page of the run itself is not replaced by one that has less.
	_, _, err := Report(t.Context(), job.Reporting{Folder: j.Out}, table.Files{})
	if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" || !strings.Contains(err.Error(), "the page of the run itself") {
		t.Errorf("error %v", err)
	}
	to := filepath.Join(j.Out, "again.html")
	_, missing, err := Report(t.Context(), job.Reporting{Folder: j.Out, Report: to}, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(to)
	if err != nil || len(missing) != 4 {
		t.Fatalf("%v, %q", err, missing)
	}
	for _, want := range []string{
		"The reference " + reference + " is not there any more, or is another",
		"The network of bcd is not shown: its list of edges cannot be read",
		"The network of admm is not shown: admm.edges.csv is of another run, or was changed.",
		"The network of correlation is not shown",
	} {
		if !slices.ContainsFunc(missing, func(s string) bool { return strings.HasPrefix(s, want) }) || !strings.Contains(string(text), want) {
			t.Errorf("%q is neither in %q nor on the page", want, missing)
		}
	}
	if !strings.Contains(string(text), ">converged<") {
		t.Error("the page lacks the table of the solvers")
	}
	other := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(other, []byte(`{"version":"1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []job.Reporting{{}, {Folder: t.TempDir()}, {Folder: filepath.Dir(other)}, {Folder: other}, {Folder: j.Out, Report: "x.txt"}, {Folder: j.Out, Report: "s3://b/x.html"}} {
		_, _, err := Report(t.Context(), r, table.Files{})
		if wrong := new(job.Error); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
