package recovery

import (
	"runtime"
	"runtime/debug"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// Describe describes this build on this machine.
func Describe() (job.Description, error) { return describe(device.Process()) }

func describe(gpus *device.Pool) (job.Description, error) {
	models, err := Models()
	if err != nil {
		return job.Description{}, err
	}
	var engines []job.EngineInfo
	for _, name := range job.Choices(&job.Job{}, "engine") {
		if name != job.EngineAuto {
			engines = append(engines, engineInfo(name))
		}
	}
	cards := gpus.Describe()
	return job.Description{
		Version:  job.Version(),
		Revision: revision(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Engines:  engines,
		Devices:  device.Names(cards),
		GPUs:     cards,
		Solvers:  Solvers(),
		Models:   models,
		Inputs:   append(job.Choices(&job.Job{}, "input_format"), "csv.gz", "tsv.gz"),
		Outputs:  arrowio.EdgeFormats().Names(),
	}, nil
}

func engineInfo(name string) job.EngineInfo {
	e, err := dense.Open(name)
	if err != nil {
		return job.EngineInfo{Name: name, Problem: err.Error()}
	}
	return job.EngineInfo{Name: name, Found: true, Version: e.Name(), Threads: dense.Threads(e)}
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
