package table_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

const square = "name,a,b,c\na,1,2,3\nb,2,4,5\nc,3,5,6\n"

func TestReadSquareReorders(t *testing.T) {
	path := testtable.File(t, "m.csv", square)
	names := []string{"c", "a", "b"}
	m, sha, err := table.ReadSquare(t.Context(), "penalty_matrix", path, names, table.Files{}, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{6, 3, 5, 3, 1, 2, 5, 2, 4}
	for i := range names {
		for j := range names {
			if got := m.At(i, j); got != want[3*i+j] {
				t.Errorf("the entry of %s and %s is %v, want %v", names[i], names[j], got, want[3*i+j])
			}
		}
	}
	if len(sha) != 64 {
		t.Errorf("checksum %q", sha)
	}
}

func TestReadSquareRefuses(t *testing.T) {
	path := testtable.File(t, "m.csv", square)
	for _, c := range []struct {
		path  string
		names []string
		text  string
	}{
		{path, []string{"a", "b", "c", "d"}, `no row for the variable "d"; give others`},
		{path, []string{"a", "b", "x"}, `no row for the variable "x"; give others`},
		{path, []string{"a", "c"}, `the variable "b" is not one of the table's; give others`},
		{path + ".none", []string{"a"}, "no such file"},
		{testtable.File(t, "x.csv", "name,a,b\na,1,2\nb,3,1\n"), []string{"a", "b"}, "symmetric"},
	} {
		_, _, err := table.ReadSquare(t.Context(), "penalty_matrix", c.path, c.names, table.Files{}, "give others")
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != "penalty_matrix" || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, want an error of the penalty matrix with %q", c.names, err, c.text)
		}
	}
}
