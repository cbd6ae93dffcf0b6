package pipelines

import (
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
)

// A SolverInfo describes one solver, for people.
type SolverInfo struct {
	// Name is what Job.Solvers calls it.
	Name string `json:"name"`
	// Title is its name in full.
	Title string `json:"title"`
	// Minimises is what it minimises; empty for a learned solver.
	Minimises string `json:"minimises,omitempty"`
	// Certified says whether it stops at a duality gap.
	Certified bool `json:"certified"`
	// Description is one sentence on when to use it.
	Description string `json:"description"`
}

// registered is a solver that a Job can name.
type registered struct {
	SolverInfo
	build func(building) solver.Solver
}

// building is what solvers are made of.
type building struct {
	job      Job // resolved
	penalty  glasso.Penalty
	model    *glad.Model
	engine   dense.Engine
	recorder solver.Recorder
}

func (b building) settings() glasso.Settings {
	return glasso.Settings{
		Penalty:        b.penalty,
		Gap:            b.job.Gap,
		IterationLimit: b.job.IterationLimit,
		Engine:         b.engine,
		Recorder:       b.recorder,
	}
}

const (
	lassoObjective = "-log det Θ + tr(SΘ) + Σ ρij|Θij|"
	amObjective    = "-log det Θ + tr(SΘ) + Σ ρij|Zij| + (λ/2)‖Z - Θ‖²"
)

// registry lists the solvers in the order in which they are presented.
func registry() []registered {
	return []registered{
		{SolverInfo{Name: "glad", Title: "GLAD",
			Description: "learned alternating minimisation; runs a fixed number of steps, takes no penalty and has no certificate"},
			func(b building) solver.Solver {
				return glad.Solver{Model: b.model, Backend: glad.CPU{Engine: b.engine}, Recorder: b.recorder}
			}},
		{SolverInfo{Name: "bcd", Title: "block coordinate descent", Minimises: lassoObjective, Certified: true,
			Description: "the graphical lasso, one column at a time; the fastest of the four when the network is sparse"},
			func(b building) solver.Solver { return glasso.BCD{Settings: b.settings()} }},
		{SolverInfo{Name: "gista", Title: "G-ISTA", Minimises: lassoObjective, Certified: true,
			Description: "proximal gradient with a line search; cheap steps, many of them where S is badly conditioned"},
			func(b building) solver.Solver { return glasso.GISTA{Settings: b.settings()} }},
		{SolverInfo{Name: "admm", Title: "alternating direction method of multipliers", Minimises: lassoObjective, Certified: true,
			Description: "one eigendecomposition a step; slow to a small gap, insensitive to the density of the network"},
			func(b building) solver.Solver {
				return glasso.ADMM{Settings: b.settings(), Lambda: b.job.ADMMLambda}
			}},
		{SolverInfo{Name: "am", Title: "alternating minimisation", Minimises: amObjective, Certified: true,
			Description: "GLAD with constants for its networks; an optimum of its own that tends to the others' as λ grows"},
			func(b building) solver.Solver { return glasso.AM{Settings: b.settings(), Lambda: b.job.AMLambda} }},
	}
}

// Solvers describes the solvers there are.
func Solvers() []SolverInfo {
	var infos []SolverInfo
	for _, r := range registry() {
		infos = append(infos, r.SolverInfo)
	}
	return infos
}

// SolverNames are the names that Job.Solvers may hold.
func SolverNames() []string {
	var names []string
	for _, r := range registry() {
		names = append(names, r.Name)
	}
	return names
}

// find returns a solver that Validate has found to be known.
func find(name string) registered {
	all := registry()
	return all[slices.IndexFunc(all, func(r registered) bool { return r.Name == name })]
}

// classical says whether one of the solvers takes a penalty.
func classical(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return find(n).Certified })
}
