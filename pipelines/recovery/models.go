package recovery

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
)

// OpenModel returns the built-in model called name, or reads the model file at
// that path, which root opens; nil for any file of this machine. What is wrong with
// either is a *job.Error of field.
func OpenModel(field, name string, root *arrowio.Root) (*glad.Model, error) {
	if slices.Contains(glad.BuiltinNames(), name) {
		return glad.Builtin(name)
	}
	f, err := root.Open(name)
	var outside *arrowio.OutsideError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, job.Errorf(field, "%q is neither a built-in model (%s) nor a file; see gladflow models", arrowio.Redacted(name), job.OneOf(glad.BuiltinNames()))
	case errors.As(err, &outside):
		return nil, &job.Error{Field: field, Reason: arrowio.Redacted(name) + ": " + outside.Error(), Err: outside}
	case err != nil:
		return nil, job.FileError(field, name, err)
	}
	defer f.Close()
	model, err := glad.Read(f)
	if err != nil {
		return nil, &job.Error{Field: field, Reason: name + ": " + err.Error(), Err: err}
	}
	return model, nil
}

// Models describes the built-in models, the default first.
func Models() ([]job.ModelInfo, error) {
	var infos []job.ModelInfo
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			return nil, err
		}
		info := modelInfo(m)
		if name == glad.DefaultModelName {
			infos = append([]job.ModelInfo{info}, infos...)
		} else {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// DescribeModel describes a built-in model or a model file.
func DescribeModel(name string) (job.ModelInfo, error) {
	m, err := OpenModel("model", name, nil)
	if err != nil {
		return job.ModelInfo{}, err
	}
	return modelInfo(m), nil
}

func modelInfo(m *glad.Model) job.ModelInfo {
	return job.ModelInfo{Name: m.Name, Kind: string(m.Kind), Iterations: m.Iterations, Parameters: m.Parameters(), Card: m.Card}
}
