// Package schema makes JSON Schemas of the documents of package job.
//
//	data, err := schema.Of(&job.Job{}, recovery.Facts(), "gladflow job", "One recovery.")
package schema

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/gladflow/gladflow/pipelines/job"
)

// Of is the JSON Schema (draft 2020-12) of document, a pointer to a job.Job or
// another document, with the words and defaults that the program knows.
func Of(document any, known job.Facts, title, description string) ([]byte, error) {
	r := jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		DoNotReference:             true,
		RequiredFromJSONSchemaTags: true,
		Mapper:                     mapped,
	}
	s := r.Reflect(document)
	s.Title, s.Description = title, description
	for _, f := range job.Fields(document, known) {
		p, _ := s.Properties.Get(f.Key)
		p.Description = f.Description
		complete(p, f)
		widen(p, f, slices.Contains(s.Required, f.Key))
	}
	return json.MarshalIndent(s, "", "  ")
}

// complete adds what the tags of a field cannot say.
func complete(p *jsonschema.Schema, f job.Field) {
	switch f.Kind {
	case job.ListField:
		if p.Items == nil { // a list, or a number
			p.Default = valueOf(f.Default)
			return
		}
		for _, word := range f.Words {
			p.Items.Enum = append(p.Items.Enum, word)
		}
	case job.ValueField:
		for _, word := range f.Words {
			p.OneOf[1].Enum = append(p.OneOf[1].Enum, word)
		}
		p.OneOf[0].Maximum = json.Number(f.Maximum)
		p.Default = valueOf(f.Default)
	case job.MapField:
		most, longestKey, longestValue := uint64(job.MaxLabels), uint64(job.MaxLabelKey), uint64(job.MaxLabelValue)
		p.MaxProperties = &most
		p.PropertyNames = &jsonschema.Schema{Pattern: job.LabelKeys, MaxLength: &longestKey}
		p.AdditionalProperties = &jsonschema.Schema{MaxLength: &longestValue, Extras: typed("string", "number", "boolean")}
	case job.TextField:
		if p.Enum == nil {
			for _, word := range f.Choices {
				p.Enum = append(p.Enum, word)
			}
		}
		if f.Default != "" {
			p.Default = valueOf(f.Default)
		}
	}
}

// valueOf is a default as JSON has it: a number where it is one.
func valueOf(text string) any {
	if _, ok := job.Value(text).Number(); ok {
		return json.Number(text)
	}
	return text
}

// mapped are the schemas of the types that write themselves.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[job.Value]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number", Minimum: "0"}, {Type: "string"}}}
	case reflect.TypeFor[job.Duration]():
		return &jsonschema.Schema{
			Type:     "string",
			Pattern:  `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`,
			Examples: []any{"90s", "2m", "1h30m"},
		}
	case reflect.TypeFor[job.Counts]():
		one := &jsonschema.Schema{Type: "integer", Minimum: "1"}
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{one, {Type: "array", Items: one}}}
	}
	return nil
}
