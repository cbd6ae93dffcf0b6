package modelfile

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Builtin is the folder "models" of a package, with one file for each model that
// comes with it: NAME.json.
type Builtin struct{ embed.FS }

// Names lists the models, sorted.
func (b Builtin) Names() []string {
	entries, err := b.ReadDir("models")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Open returns the file of the model called name, or an error that lists the names
// there are.
func (b Builtin) Open(name string) (io.Reader, error) {
	if !slices.Contains(b.Names(), name) {
		return nil, fmt.Errorf("no built-in model is called %q; there are %s, or name a model file", name, strings.Join(b.Names(), ", "))
	}
	data, err := b.ReadFile("models/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("built-in model %q: %w", name, err)
	}
	return bytes.NewReader(data), nil
}
