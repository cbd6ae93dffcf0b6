package pipelines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
)

// One error names its option as each caller sets it.
func TestErrorText(t *testing.T) {
	path := file(t, "t.csv", "my id,x\na,1\nb,2\n")
	_, err := Run(context.Background(), Job{Input: path, Solvers: []string{"bcd"}}, Host{})
	var job *JobError
	if !errors.As(err, &job) || job.Field != "input" {
		t.Fatal(err)
	}
	where := path + `: column "my id", line 2: "a" is not a number; if the column labels the rows, pass `
	for want, got := range map[string]string{
		`--id-column "my id"`: ErrorText(err, FlagOption),
		`id_column "my id"`:   ErrorText(err, FieldOption),
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
	if err.Error() != ErrorText(err, FieldOption) {
		t.Errorf("an error by itself is %s", err)
	}
	wrapped := fmt.Errorf("solver bcd: %w", err)
	if got := ErrorText(wrapped, FlagOption); got != "solver bcd: "+where+`--id-column "my id", otherwise remove it` {
		t.Error(got)
	}
	if got := ErrorText(errors.New("the disk is full"), FlagOption); got != "the disk is full" {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	for value, want := range map[string]string{"id": "id", "my id": `"my id"`, "#1": "'#1'", "#x": `"#x"`, "": ""} {
		if got := FlagOption("id_column", value); got != "--id-column "+want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// A table of a training folder has an id column, and its error is the folder's.
func TestErrorTextOfTraining(t *testing.T) {
	path := file(t, "t.csv", "id,x\na,1\nb,2\n")
	_, _, err := Training{}.read(context.Background(), pair{table: path, precision: path})
	var job *JobError
	if !errors.As(err, &job) || job.Field != "data" {
		t.Fatal(err)
	}
	if got := job.Text(FlagOption); !strings.Contains(got, "pass --id-column id,") || strings.Contains(got, "SampleOptions") {
		t.Error(got)
	}
	if got := job.Error(); !strings.Contains(got, "pass id_column id,") || strings.Contains(got, "SampleOptions") {
		t.Error(got)
	}
}

// Nobody can name the id column of a penalty matrix.
func TestNoAdviceForPenaltyMatrix(t *testing.T) {
	table := file(t, "t.csv", "x,y\n1,2\n2,1\n4,3\n")
	matrix := file(t, "p.csv", "x,y\n1,2\nz,1\n")
	_, err := Run(context.Background(), Job{Input: table, PenaltyMatrix: matrix, Solvers: []string{"bcd"}}, Host{})
	if err == nil || strings.Contains(err.Error(), "id_column") || !strings.Contains(err.Error(), `"z" is not a number; remove the column or put a number`) {
		t.Error(err)
	}
}
