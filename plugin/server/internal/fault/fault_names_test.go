package fault

import (
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// A caller of the service is told of fields of the job; words that look like
// flags stay as they are.
func TestFaultNamesFields(t *testing.T) {
	input := &arrowio.InputError{Path: "--odd-name.csv", Column: "id", Row: 1, Reason: "the column holds text",
		Advice: arrowio.Advice{Option: "id_column", Value: "id", With: "pass %s"}}
	f := Of(t.Context(), &job.Error{Field: "input", Err: input})
	if want := `--odd-name.csv: column "id", row 1: the column holds text; pass id_column id`; f.Message != want || f.Column != "id" || f.Row != 1 {
		t.Errorf("%+v, want %s", f, want)
	}
}
