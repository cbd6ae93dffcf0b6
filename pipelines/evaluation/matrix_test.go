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
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A precision matrix is no list of edges: its values have signs and a diagonal.
func TestPrecisionMatrixIsNotScored(t *testing.T) {
	reference := testtable.File(t, "r.tsv", testtable.Star)
	for _, of := range []job.Job{
		{Format: "parquet"}, {Format: "parquet", Precision: "dense"}, {Format: "arrow"}, {Format: "csv"}, {Format: "csv", Precision: "dense"},
	} {
		of.Input, of.IDColumn, of.Solvers, of.Penalty, of.Out = testtable.CSV(t, 6, 40), "id", []string{"bcd"}, "0.2", t.TempDir()
		if _, err := recovery.Run(t.Context(), of, recovery.Host{}); err != nil {
			t.Fatal(err)
		}
		matrix := filepath.Join(of.Out, "bcd.precision."+of.Format)
		refused := func(what string) {
			t.Helper()
			_, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: matrix, Reference: reference}, table.Files{})
			var j *job.Error
			if !errors.As(err, &j) || j.Field != "edge_list" || !strings.Contains(err.Error(), matrix+" is a precision matrix") {
				t.Errorf("%s %s %s: %v", of.Format, of.Precision, what, err)
			}
		}
		refused("as written")
		if of.Format == "csv" && of.Precision == "" {
			if err := os.Remove(matrix + "-metadata.json"); err != nil {
				t.Fatal(err)
			}
			refused("without its description")
		}
	}

	// Others call the columns of their lists so, and list variables that regulate
	// themselves.
	list := testtable.File(t, "list.csv", "row,column,value\nv0,v1,0.9\nv1,v1,0.8\nv0,v2,0.7\n")
	if r, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: list, Reference: reference}, table.Files{}); err != nil || r.Lines != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
