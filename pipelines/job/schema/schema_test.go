package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// The document, its schema and the flags are three views of one struct.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, document := range []any{&job.Job{}, &job.Evaluation{}, &job.Training{}, &job.Simulation{}, &job.GeneSimulation{}} {
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

// What tags and facts say of fields of every kind is in the schema.
func TestSchemaOfTraining(t *testing.T) {
	known := job.Facts{Words: map[string][]string{"family": {"er", "mixed"}, "from": {"general"}}}
	data, err := Of(&job.Training{}, known, "training", "one")
	if err != nil {
		t.Fatal(err)
	}
	type property struct {
		Type    []string
		Enum    []any
		Default any
		Minimum *float64
		OneOf   []struct {
			Type, Pattern string
			Enum          []string
			Minimum       *float64
			Items         *struct{ Type string }
		}
	}
	var s struct {
		Title      string
		Required   []string
		Properties map[string]property
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if s.Title != "training" || !reflect.DeepEqual(s.Required, []string{"out"}) {
		t.Errorf("title %q, required %v", s.Title, s.Required)
	}
	if p := s.Properties["family"]; !reflect.DeepEqual(p.Enum, []any{"er", "mixed", nil}) || !slices.Equal(p.Type, []string{"string", "null"}) {
		t.Errorf("family: %+v", p)
	}
	if p := s.Properties["from"]; p.Enum != nil || !slices.Equal(p.Type, []string{"string", "number", "boolean", "null"}) { // a file, too
		t.Errorf("from: %+v", p)
	}
	if p := s.Properties["dimension"]; p.Default != 100. || len(p.OneOf) != 3 || p.OneOf[0].Type != "integer" || p.OneOf[1].Items == nil || p.OneOf[1].Items.Type != "integer" || p.OneOf[2].Type != "null" {
		t.Errorf("dimension: %+v", p)
	}
	if p := s.Properties["support_cost"]; p.Default != 0.005 || len(p.OneOf) != 4 || !reflect.DeepEqual(p.OneOf[1].Enum, []string{"none"}) || p.OneOf[2].Pattern == "" || p.OneOf[3].Type != "null" {
		t.Errorf("support_cost: %+v", p)
	}
	if p := s.Properties["graphs"]; !slices.Equal(p.Type, []string{"integer", "null"}) || p.Default != 10. || p.Minimum == nil {
		t.Errorf("graphs: %+v", p)
	}
}

// The bounds of labels are in the schema.
func TestSchemaOfLabels(t *testing.T) {
	data, err := Of(&job.Job{}, job.Facts{}, "job", "one")
	if err != nil {
		t.Fatal(err)
	}
	type bounds struct {
		Type                                any
		Pattern                             string
		MaxLength, MaxProperties            int
		PropertyNames, AdditionalProperties *bounds
	}
	// The schema of the whole has false for additionalProperties.
	var s struct{ Properties struct{ Labels bounds } }
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	want := bounds{
		Type: []any{"object", "null"}, MaxProperties: 32,
		PropertyNames:        &bounds{MaxLength: 64, Pattern: job.LabelKeys},
		AdditionalProperties: &bounds{Type: []any{"string", "number", "boolean"}, MaxLength: 256},
	}
	if !reflect.DeepEqual(s.Properties.Labels, want) {
		t.Errorf("labels: %+v", s.Properties.Labels)
	}
}
