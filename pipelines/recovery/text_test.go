package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// One error names its option as each caller sets it.
func TestErrorText(t *testing.T) {
	path := testtable.File(t, "t.csv", "my id,x\na,1\nb,2\n")
	_, err := Run(context.Background(), job.Job{Input: path, Solvers: []string{"bcd"}}, Host{})
	var j *job.Error
	if !errors.As(err, &j) || j.Field != "input" {
		t.Fatal(err)
	}
	where := path + `: column "my id", line 2: "a" is not a number; if the column labels the rows, pass `
	for want, got := range map[string]string{
		`--id-column "my id"`: job.ErrorText(err, job.FlagOption),
		`id_column "my id"`:   job.ErrorText(err, job.FieldOption),
		`SampleOptions.IDColumn = "my id"`: func() string {
			var input *arrowio.InputError
			errors.As(err, &input)
			return input.Error()
		}(),
	} {
		if got != where+want+", otherwise remove it" {
			t.Errorf("%s, want %s", got, where+want)
		}
	}
	if err.Error() != job.ErrorText(err, job.FieldOption) {
		t.Errorf("an error by itself is %s", err)
	}
	wrapped := fmt.Errorf("solver bcd: %w", err)
	if got := job.ErrorText(wrapped, job.FlagOption); got != "solver bcd: "+where+`--id-column "my id", otherwise remove it` {
		t.Error(got)
	}
	if got := job.ErrorText(errors.New("the disk is full"), job.FlagOption); got != "the disk is full" {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	for value, want := range map[string]string{"id": "id", "my id": `"my id"`, "#1": "'#1'", "#x": `"#x"`, "": ""} {
		if got := job.FlagOption("id_column", value); got != strings.TrimSuffix("--id-column "+want, " ") {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// Nobody can name the id column of a penalty matrix.
func TestNoAdviceForPenaltyMatrix(t *testing.T) {
	table := testtable.File(t, "t.csv", "x,y\n1,2\n2,1\n4,3\n")
	matrix := testtable.File(t, "p.csv", "x,y\n1,2\nz,1\n")
	_, err := Run(context.Background(), job.Job{Input: table, PenaltyMatrix: matrix, Solvers: []string{"bcd"}}, Host{})
	if err == nil || strings.Contains(err.Error(), "id_column") || !strings.Contains(err.Error(), `"z" is not a number; put a number, or remove the column or the row`) {
		t.Error(err)
	}
}
