package adapt

import (
	"embed"
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// The names of the sets of experts that come with the package.
const (
	// Standardised are experts on correlation matrices. They know graphs and no units.
	Standardised = "standardised"
	// EqualScales are experts on covariances of variables whose precision matrix has an
	// equal diagonal, as simulators draw them; no other table is like that.
	EqualScales = "equal-scales"
)

// A Set is several models and the gate that chooses among them.
type Set struct {
	// Name is one of those above.
	Name string
	// Models are the general one and then the experts, with names that differ.
	Models []*glad.Model
	// Gate was fitted for these models, in their order.
	Gate *Gate
}

// Covariances says that the experts work on covariances in the units of the variables.
func (s *Set) Covariances() bool { return s.Name == EqualScales }

//go:embed experts
var files embed.FS

// Families lists the families of graphs that have an expert in every set, by the names of
// the experts. Band and small-world graphs have none, so that they can tell how adapting
// does on graphs that no expert knows.
func Families() []string {
	return []string{"er", "er-sparse", "scale-free", "hub", "grid", "block"}
}

// Experts opens the models of a set, the general one first, without the heads for the
// probability of an edge, which the general model has for the mean: see
// glad.Model.EdgeProbability.
func Experts(name string) ([]*glad.Model, error) {
	if !slices.Contains([]string{Standardised, EqualScales}, name) {
		return nil, fmt.Errorf("no set of experts is called %q; there are %s and %s", name, Standardised, EqualScales)
	}
	general, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		return nil, err
	}
	models := []*glad.Model{general}
	names := Families()
	if name == EqualScales {
		names = append([]string{Start}, names...)
	}
	for _, expert := range names {
		path := "experts/" + name + "/" + expert + ".json"
		f, err := files.Open(path)
		if err != nil {
			return nil, err
		}
		m, err := glad.Read(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		models = append(models, m)
	}
	for _, m := range models {
		m.Edge = glad.Network{} // of the mean, whoever needs it
	}
	return models, nil
}

// Start is the expert of EqualScales that was trained on a mixture of all graphs; the
// others were trained from it.
const Start = "covariances"

// Builtin opens the set called name.
func Builtin(name string) (*Set, error) {
	models, err := Experts(name)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: name, Models: models}
	f, err := files.Open("experts/" + name + "/gate.json")
	if err != nil {
		return nil, err
	}
	if s.Gate, err = modelfile.Read(f, gateFormat(), readGate); err == nil {
		err = s.Gate.isFor(models)
	}
	if err != nil {
		return nil, fmt.Errorf("the gate of %s: %w", name, err)
	}
	return s, nil
}
