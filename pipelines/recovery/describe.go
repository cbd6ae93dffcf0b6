package recovery

import (
	"runtime"
	"runtime/debug"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// Describe describes this build on this machine.
func Describe() (job.Description, error) {
	models, err := Models()
	if err != nil {
		return job.Description{}, err
	}
	return job.Description{
		Version:  job.Version(),
		Revision: revision(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Engines:  []job.EngineInfo{engineInfo("openblas"), engineInfo("gonum")},
		Devices:  usableDevices(),
		Solvers:  Solvers(),
		Models:   models,
		Inputs:   []string{"parquet", "arrow", "feather", "arrows", "csv", "tsv", "csv.gz", "tsv.gz"},
		Outputs:  []string{"parquet", "arrow", "csv"},
	}, nil
}

func engineInfo(name string) job.EngineInfo {
	e, err := dense.Open(name)
	if err != nil {
		return job.EngineInfo{Name: name, Problem: err.Error()}
	}
	info := job.EngineInfo{Name: name, Found: true, Version: e.Name()}
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
