package evaluation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A list that lies beside the run.json of another run is scored with a warning.
func TestStaleList(t *testing.T) {
	reference := testtable.File(t, "known.tsv", testtable.Star)
	out := t.TempDir()
	j := job.Job{Input: testtable.CSV(t, 8, 40), IDColumn: "id", Solvers: []string{"bcd", "admm"}, Penalty: "0.1", Out: out}
	bcd, admm := filepath.Join(out, "bcd.edges.parquet"), filepath.Join(out, "admm.edges.parquet")
	recovered := func() {
		t.Helper()
		if _, err := recovery.Run(t.Context(), j, recovery.Host{}); err != nil {
			t.Fatal(err)
		}
	}
	warned := func(path, want string) {
		t.Helper()
		r, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: path, Reference: reference}, table.Files{Stores: secretStore(bcd)})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(r.Warnings, "\n"); (text == "") != (want == "") || !strings.Contains(text, want) {
			t.Errorf("%s: warnings %q, want %q", path, text, want)
		}
	}
	recovered()
	warned(bcd, "")
	warned("file://"+filepath.ToSlash(bcd), "")

	// Of a run before, in the place of this one's.
	old, err := os.ReadFile(bcd)
	if err != nil {
		t.Fatal(err)
	}
	j.Penalty = "0.2"
	recovered()
	if err := os.WriteFile(bcd, old, 0o600); err != nil {
		t.Fatal(err)
	}
	warned(bcd, "its checksum is another")
	warned("file://"+filepath.ToSlash(bcd), "its checksum is another")
	warned(admm, "")

	// Left by a run before, as this one has failed or writes another format.
	j.Format = "csv"
	recovered()
	warned(admm, "no such file of solver admm")
	warned(filepath.Join(out, "admm.edges.csv"), "")

	// Of a solver that this run has not run.
	j.Solvers, j.Format = []string{"bcd"}, ""
	recovered()
	warned(admm, "no such file of solver admm")
	warned(filepath.Join(out, "admm.edges.csv"), "no such file of solver admm")

	// A list of another name, and a run.json of version 0.1.0 or of somebody else.
	own := filepath.Join(out, "published.parquet")
	if err := os.Rename(bcd, own); err != nil {
		t.Fatal(err)
	}
	warned(own, "")
	for _, document := range []string{
		`{"solvers": [{"name": "admm", "files": ["admm.edges.parquet"]}]}`, `{"solvers": 3}`, `{}`, `no JSON`,
	} {
		if err := os.WriteFile(filepath.Join(out, "run.json"), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		warned(admm, "")
	}
}
