package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
)

func gladEntry() solverEntry {
	return solverEntry{
		SolverInfo: job.SolverInfo{
			Name: "glad", Title: "GLAD",
			Description: "learned alternating minimisation; runs a fixed number of steps, takes no penalty and has no certificate",
		},
		takesModel: true,
		build: func(c solverConfig) solver.Solver {
			return glad.Solver{Model: c.model, Backend: deviceNamed(c.job.Device).backend(c.engine), Recorder: c.recorder}
		},
	}
}
