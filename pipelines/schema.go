package pipelines

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/gladflow/gladflow/solver/glad"
)

// Schema is the JSON Schema (draft 2020-12) of a Job.
func Schema() ([]byte, error) {
	s := schemaOf(&Job{})
	s.Title = "gladflow job"
	s.Description = "One recovery: a table in, networks out. Read by gladflow run, as JSON or YAML."
	return json.MarshalIndent(s, "", "  ")
}

// schemaOf reflects the tags of a document.
func schemaOf(document any) *jsonschema.Schema {
	r := jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		DoNotReference:             true,
		RequiredFromJSONSchemaTags: true,
	}
	return r.Reflect(document)
}

// JSONSchemaExtend adds what tags cannot say: the words that stand for numbers.
func (Job) JSONSchemaExtend(s *jsonschema.Schema) {
	words(s, "penalty", PenaltyEBIC, PenaltyEBIC)
	words(s, "shrinkage", ShrinkageLedoitWolf, json.Number("0"))
	shrinkage, _ := s.Properties.Get("shrinkage")
	shrinkage.OneOf[0].Maximum = "1"
	model, _ := s.Properties.Get("model")
	model.Default = glad.DefaultModelName
	solvers, _ := s.Properties.Get("solvers")
	for _, name := range SolverNames() {
		solvers.Items.Enum = append(solvers.Items.Enum, name)
	}
}

func words(s *jsonschema.Schema, key, word string, byDefault any) {
	p, _ := s.Properties.Get(key)
	p.OneOf[1].Enum = []any{word}
	p.Default = byDefault
}
