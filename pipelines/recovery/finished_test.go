package recovery

import (
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

// The page of a finished run draws the networks that the page of the run itself draws, from
// lists in any format, and says what it lacks.
func TestReportOfFinishedRun(t *testing.T) {
	input := testtable.CSV(t, 10, 60)
	reference := testtable.File(t, "r.tsv", testtable.Star)
	regulators := testtable.File(t, "regulators.txt", "v1\nv4\n")
	for format, c := range map[string]job.Job{
		"parquet": {Reference: reference}, "csv": {}, "graphml": {Edges: job.EdgesAll}, "cyjs": {Regulators: regulators},
	} {
		j := c
		j.Input, j.IDColumn, j.Penalty, j.Format, j.Out = input, "id", "0.1", format, t.TempDir()
		j.Solvers = []string{"bcd", "clr"}
		if j.Edges == "" && j.Regulators == "" {
			j.Solvers = append(j.Solvers, "glad")
		}
		j.Report = filepath.Join(t.TempDir(), "own.html")
		if _, err := Run(t.Context(), j, Host{}); err != nil {
			t.Fatal(err)
		}
		written, missing, err := Report(t.Context(), job.Reporting{Folder: j.Out}, table.Files{})
		if err != nil || written.Name != filepath.Join(j.Out, "report.html") || len(missing) != 1 || !strings.HasPrefix(missing[0], "How the solvers came") {
			t.Fatalf("%s: %+v, %q, %v", format, written, missing, err)
		}
		pages := make([]string, 2)
		for k, path := range []string{j.Report, written.Name} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages[k] = string(text)
		}
		own, again := drawnData(t, pages[0], "networks")[0], drawnData(t, pages[1], "networks")[0]
		if string(own) != string(again) {
			t.Errorf("%s: the networks are\n%s\nof the run\n%s", format, again, own)
		}
		for _, word := range []string{"How the solvers came to where they stopped is not shown", "gladflow recover", "bcd.edges." + format} {
			if !strings.Contains(pages[1], word) {
				t.Errorf("%s: the page lacks %q", format, word)
			}
		}
		if curves := strings.Contains(pages[1], "The curves are those of the lists"); curves != (j.Reference != "") {
			t.Errorf("%s: it has curves: %v", format, curves)
		}
	}
}

// What is not there any more, or is of another run, is left out with a sentence.
func TestReportOfWhatIsLeft(t *testing.T) {
	reference := testtable.File(t, "r.tsv", testtable.Star)
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Penalty: "0.1", Solvers: []string{"bcd", "admm", "correlation"}, Reference: reference, Format: "csv", Out: t.TempDir()}
	if _, err := Run(t.Context(), j, Host{}); err != nil {
		t.Fatal(err)
	}
	// The page of the run itself is not replaced.
	_, _, err := Report(t.Context(), job.Reporting{Folder: j.Out}, table.Files{})
	if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" || !strings.Contains(err.Error(), "the page of the run itself") {
		t.Errorf("error %v", err)
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
	to := filepath.Join(j.Out, "again.html")
	_, missing, err := Report(t.Context(), job.Reporting{Folder: j.Out, Report: to}, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(to)
	if err != nil || len(missing) != 5 {
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
