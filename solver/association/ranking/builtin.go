package ranking

import (
	"embed"

	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// DefaultModelName is the built-in model that is run when none is named.
const DefaultModelName = "gene"

// RegulatorsModelName is the one that is run in its place where regulators are known.
const RegulatorsModelName = "gene-directed"

//go:embed models/*.json
var models embed.FS

func builtin() modelfile.Builtin { return modelfile.Builtin{FS: models} }

// BuiltinNames lists the models that come with the package, sorted.
func BuiltinNames() []string { return builtin().Names() }

// Builtin returns a fresh copy of the built-in model called name, or an error that
// lists the names there are.
func Builtin(name string) (*Model, error) {
	file, err := builtin().Open(name)
	if err != nil {
		return nil, err
	}
	return Read(file)
}
