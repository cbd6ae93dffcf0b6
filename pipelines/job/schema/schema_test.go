package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// The document, its schema and the flags are three views of one struct.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, document := range []any{&job.Job{}, &job.Evaluation{}} {
		data, err := Of(document, job.Facts{}, "", "")
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatal(err)
		}
		typ := reflect.TypeOf(document).Elem()
		fields := job.Fields(document, job.Facts{})
		if len(fields) != typ.NumField() || len(schema.Properties) != typ.NumField() {
			t.Fatalf("%s has %d fields, %d are described and %d in the schema", typ, typ.NumField(), len(fields), len(schema.Properties))
		}
		for i, f := range fields {
			if f.Description == "" || f.Key == "" || strings.Contains(f.Flag, "_") {
				t.Errorf("%s.%s is described as %+v", typ, typ.Field(i).Name, f)
			}
			if p, ok := schema.Properties[f.Key]; !ok || p.Description != f.Description {
				t.Errorf("the schema of %s lacks %q or its description", typ, f.Key)
			}
		}
	}
}
