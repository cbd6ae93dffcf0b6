package recovery

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	learned "github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/glad"
)

// OpenModel returns GLAD's built-in model called name, or reads the model file at
// that path, which root opens; nil for any file of this machine. What is wrong with
// either is a *job.Error of field.
func OpenModel(field, name string, root *arrowio.Root) (*glad.Model, error) {
	return gladModels().open(field, name, root)
}

// OpenRankingModel is OpenModel for the models of expression.
func OpenRankingModel(field, name string, root *arrowio.Root) (*learned.Model, error) {
	return rankingModels().open(field, name, root)
}

// LacksRegulators reports whether a solver of the job takes a model that ranks pairs from
// a regulator, and the job lists none: Run refuses that. A model that cannot be opened,
// which Run says too, is none.
func LacksRegulators(j job.Job) bool {
	j = Resolved(j)
	if j.Regulators != "" || !anySolver(j.Solvers, func(s solverEntry) bool { return s.takesRankingModel }) {
		return false
	}
	m, err := OpenRankingModel("ranking_model", j.RankingModel, nil)
	return err == nil && m.Directed()
}

// models are those of a kind: built in, or in files.
type models[M any] struct {
	names       []string
	defaultName string
	builtin     func(name string) (M, error)
	read        func(io.Reader) (M, error)
	info        func(M) job.ModelInfo
}

func gladModels() models[*glad.Model] {
	return models[*glad.Model]{glad.BuiltinNames(), glad.DefaultModelName, glad.Builtin, glad.Read, func(m *glad.Model) job.ModelInfo {
		return job.ModelInfo{Name: m.Name, Kind: string(m.Kind), Iterations: m.Iterations, Parameters: m.Parameters(), EdgeParameters: m.EdgeParameters(), Card: m.Card}
	}}
}

// RankingKind is the kind of model that job.ModelInfo names for those of expression.
const RankingKind = "ranking"

func rankingModels() models[*learned.Model] {
	return models[*learned.Model]{learned.BuiltinNames(), learned.DefaultModelName, learned.Builtin, learned.Read, func(m *learned.Model) job.ModelInfo {
		return job.ModelInfo{Name: m.Name, Kind: RankingKind, Parameters: m.Parameters(), Card: m.Card}
	}}
}

func (k models[M]) open(field, name string, root *arrowio.Root) (M, error) {
	var none M
	if slices.Contains(k.names, name) {
		return k.builtin(name)
	}
	f, err := root.Open(name)
	var outside *arrowio.OutsideError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, job.Errorf(field, "%q is neither a built-in model (%s) nor a file; see gladflow models", arrowio.Redacted(name), job.OneOf(k.names))
	case errors.As(err, &outside):
		return none, &job.Error{Field: field, Reason: arrowio.Redacted(name) + ": " + outside.Error(), Err: outside}
	case err != nil:
		return none, job.FileError(field, name, err)
	}
	defer f.Close()
	model, err := k.read(f)
	if err != nil {
		return none, &job.Error{Field: field, Reason: name + ": " + err.Error(), Err: err}
	}
	return model, nil
}

// all describes the built-in models, the default first.
func (k models[M]) all() ([]job.ModelInfo, error) {
	var infos []job.ModelInfo
	for _, name := range k.names {
		m, err := k.builtin(name)
		if err != nil {
			return nil, err
		}
		info := k.info(m)
		if name == k.defaultName {
			infos = append([]job.ModelInfo{info}, infos...)
		} else {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

func (k models[M]) describe(name string) (job.ModelInfo, error) {
	m, err := k.open("model", name, nil)
	if err != nil {
		return job.ModelInfo{}, err
	}
	return k.info(m), nil
}

// Models describes the built-in models: GLAD's, then those of expression, and of
// either the default first.
func Models() ([]job.ModelInfo, error) {
	infos, err := gladModels().all()
	if err != nil {
		return nil, err
	}
	more, err := rankingModels().all()
	return append(infos, more...), err
}

// ModelNames are the names of the built-in models, of all kinds.
func ModelNames() []string { return append(glad.BuiltinNames(), learned.BuiltinNames()...) }

// DescribeModel describes a built-in model or a model file.
func DescribeModel(name string) (job.ModelInfo, error) {
	if slices.Contains(learned.BuiltinNames(), name) || ranks(name) {
		return rankingModels().describe(name)
	}
	return gladModels().describe(name)
}

// ranks reports whether a file says that it holds a model of expression.
func ranks(path string) bool {
	var root *arrowio.Root // any file of this machine
	f, err := root.Open(path)
	if err != nil {
		return false // as it will be said of the other kind
	}
	defer f.Close()
	var head struct {
		Format string `json:"format"`
	}
	const most = 16 << 20 // what models are read up to
	return json.NewDecoder(io.LimitReader(f, most)).Decode(&head) == nil && head.Format == learned.Format
}
