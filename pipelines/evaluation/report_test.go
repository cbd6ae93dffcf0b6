package evaluation_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

func TestReport(t *testing.T) {
	e := job.Evaluation{
		EdgeList:  testtable.File(t, "edges.tsv", "v0\tv1\t3\nv3\tv1\t1\nv0\tv2\t2\nv0\tv1\t0\nv9\tv1\t0\n"),
		Reference: testtable.File(t, "known.tsv", testtable.Star),
		Report:    filepath.Join(t.TempDir(), "pages", "report.html"),
	}
	r, err := evaluation.Run(t.Context(), e, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(e.Report)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Files) != 1 || r.Files[0].Name != e.Report || r.Files[0].Bytes != int64(len(data)) {
		t.Errorf("listed are %+v", r.Files)
	}
	// The best first, each pair once, as from 0 to 1, 0 to 2, 3 to 1 and 9 to 1, with
	// what the reference knows; a score that is no order is a score.
	for _, want := range []string{
		`"names":["v0","v1","v2","v3","v9"]`, `"edges":[0,1,0,1,0,2,0,1,3,1,0,2,4,1,0,0],"scores":[3,2,1,0]`, `"directed":true`,
		"gladflow evaluate ", r.SHA256, r.Reference.SHA256, "edges.tsv",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "r.txt"), t.TempDir() + "/x/../.html/", filepath.Join(e.EdgeList, "r.html")} {
		e.Report = path
		_, err := evaluation.Run(t.Context(), e, table.Files{})
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" {
			t.Errorf("%s: %v", path, err)
		}
	}
}
