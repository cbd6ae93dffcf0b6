package glad

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
)

// DefaultModelName is the built-in model that is run when none is named.
const DefaultModelName = "general"

// RegulatorsModelName is the one that is run in its place where regulators are known.
const RegulatorsModelName = "gene-regulators"

//go:embed models/*.json
var builtin embed.FS

// BuiltinNames lists the models that come with the package, sorted.
func BuiltinNames() []string {
	entries, err := builtin.ReadDir("models")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Builtin returns a fresh copy of the built-in model called name, or an error
// that lists the names there are.
func Builtin(name string) (*Model, error) {
	for _, n := range BuiltinNames() {
		if n == name {
			data, err := builtin.ReadFile(path.Join("models", name+".json"))
			if err != nil {
				return nil, fmt.Errorf("built-in model %q: %w", name, err)
			}
			return Read(bytes.NewReader(data))
		}
	}
	return nil, fmt.Errorf("no built-in model is called %q; there are %s, or name a model file", name, strings.Join(BuiltinNames(), ", "))
}
