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
		build: func(i ingredients) solver.Solver {
			return glad.Solver{Model: i.model, Backend: deviceNamed(i.job.Device).backend(i.engine), Recorder: i.recorder}
		},
	}
}
