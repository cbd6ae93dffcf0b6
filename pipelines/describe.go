package pipelines

import (
	"runtime"
	"runtime/debug"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Description is what a build is and what it finds on its machine.
type Description struct {
	Version string `json:"version"`
	// Revision is the commit that it was built from, where Go has noted it;
	// "+changes" marks a checkout with changes.
	Revision string       `json:"revision,omitempty"`
	Go       string       `json:"go"`
	Platform string       `json:"platform"`
	Engines  []EngineInfo `json:"engines"`
	Devices  []string     `json:"devices"`
	Solvers  []SolverInfo `json:"solvers"`
	Models   []ModelInfo  `json:"models"`
	Inputs   []string     `json:"inputs"`
	Outputs  []string     `json:"outputs"`
}

// An EngineInfo is a source of linear algebra.
type EngineInfo struct {
	Name string `json:"name"`
	// Found says whether this machine has it; Version names it in full, and
	// Problem says what is missing.
	Found   bool   `json:"found"`
	Version string `json:"version,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// A ModelInfo is a built-in model.
type ModelInfo struct {
	Name       string    `json:"name"`
	Kind       glad.Kind `json:"kind"`
	Iterations int       `json:"iterations"`
	Parameters int       `json:"parameters"`
	Card       glad.Card `json:"card"`
}

// Describe describes this build on this machine.
func Describe() (Description, error) {
	models, err := Models()
	if err != nil {
		return Description{}, err
	}
	return Description{
		Version:  Version,
		Revision: revision(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Engines:  []EngineInfo{engineInfo("openblas"), engineInfo("gonum")},
		Devices:  []string{DeviceCPU},
		Solvers:  Solvers(),
		Models:   models,
		Inputs:   []string{"parquet", "arrow", "feather", "arrows", "csv", "tsv", "csv.gz", "tsv.gz"},
		Outputs:  []string{"parquet", "arrow", "csv"},
	}, nil
}

// Models describes the built-in models, the default first.
func Models() ([]ModelInfo, error) {
	var infos []ModelInfo
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			return nil, err
		}
		info := modelInfo(m)
		if name == glad.DefaultModelName {
			infos = append([]ModelInfo{info}, infos...)
		} else {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

func modelInfo(m *glad.Model) ModelInfo {
	return ModelInfo{m.Name, m.Kind, m.Iterations, m.Parameters(), m.Card}
}

// DescribeModel describes a built-in model or a model file.
func DescribeModel(name string) (ModelInfo, error) {
	m, err := OpenModel(name)
	if err != nil {
		return ModelInfo{}, err
	}
	return modelInfo(m), nil
}

func engineInfo(name string) EngineInfo {
	e, err := dense.Open(name)
	if err != nil {
		return EngineInfo{Name: name, Problem: err.Error()}
	}
	info := EngineInfo{Name: name, Found: true, Version: e.Name()}
	if t, ok := e.(dense.Threader); ok {
		info.Threads = t.Threads()
	}
	return info
}

func revision() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var commit, changes string
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + changes
}
