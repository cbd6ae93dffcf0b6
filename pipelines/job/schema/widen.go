package schema

import (
	"regexp"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/gladflow/gladflow/pipelines/job"
)

// widen has the schema of a field allow all that job.Read takes for it: null for none,
// a list as text, and numbers where a name may be one.
func widen(p *jsonschema.Schema, f job.Field, required bool) {
	if p.OneOf != nil {
		if f.Kind == job.ValueField && len(f.Words) > 0 {
			p.OneOf = append(p.OneOf, &jsonschema.Schema{Type: "string", Pattern: `^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$`})
		}
		if f.Kind == job.ValueField && f.Pattern != "" {
			p.OneOf = append(p.OneOf, &jsonschema.Schema{Type: "string", Pattern: f.Pattern})
			p.Pattern = "" // which numbers do not have
		}
		if !required {
			p.OneOf = append(p.OneOf, &jsonschema.Schema{Type: "null"})
		}
		return
	}
	types := []string{p.Type}
	switch {
	case f.Kind == job.ListField:
		types = append(types, "string")
		p.Pattern = listPattern(f.Words)
	case f.Kind == job.TextField && p.Enum == nil && p.Pattern == "":
		types = append(types, "number", "boolean")
	}
	if !required {
		types = append(types, "null")
		if p.Enum != nil {
			p.Enum = append(p.Enum, nil)
		}
	}
	p.Type, p.Extras = "", typed(types...)
}

// typed is the keyword type with several types, which jsonschema.Schema lacks.
func typed(types ...string) map[string]any { return map[string]any{"type": types} }

// listPattern is what a list as text is: words, separated by commas; empty where any are
// allowed.
func listPattern(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	word := `\s*(` + strings.Join(quoted, "|") + `)?\s*`
	return "^" + word + "(," + word + ")*$"
}
