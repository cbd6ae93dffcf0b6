package job

import "github.com/gladflow/gladflow/solver/glad/card"

// A Description is what a build is and what it finds on its machine.
type Description struct {
	Version string `json:"version"`
	// Revision is the commit that it was built from, where Go has noted it;
	// "+changes" marks a checkout with changes.
	Revision string       `json:"revision,omitempty"`
	Go       string       `json:"go"`
	Platform string       `json:"platform"`
	Engines  []EngineInfo `json:"engines"`
	// Devices are the names that Job.Device may have on this machine: cpu, and cuda:N
	// for each GPU that was found by a build that has code for it.
	Devices []string `json:"devices"`
	// GPUs describes these, or has one element that says why there is none.
	GPUs    []GPUInfo    `json:"gpus"`
	Solvers []SolverInfo `json:"solvers"`
	Models  []ModelInfo  `json:"models"`
	Inputs  []string     `json:"inputs"`
	Outputs []string     `json:"outputs"`
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

// A GPUInfo is a GPU of this machine.
type GPUInfo struct {
	// Device is what Job.Device calls it: cuda:0. It is cuda where none was found.
	Device string `json:"device"`
	// Found says whether there is one, and Problem why there is none.
	Found   bool   `json:"found"`
	Problem string `json:"problem,omitempty"`
	// Name is that of the card, ComputeCapability its generation, such as 9.0.
	Name              string `json:"name,omitempty"`
	ComputeCapability string `json:"compute_capability,omitempty"`
	Multiprocessors   int    `json:"multiprocessors,omitempty"`
	// MemoryBytes is the memory of the card, used or not.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	// UUID tells cards apart, whatever their numbers.
	UUID string `json:"uuid,omitempty"`
	// Driver is the version of CUDA that the driver supports, such as 12.9, and
	// Libraries the libraries that were found, with their versions.
	Driver    string `json:"driver,omitempty"`
	Libraries string `json:"libraries,omitempty"`
}

// A ModelInfo is a built-in model, or a model file.
type ModelInfo struct {
	Name string `json:"name"`
	// Kind is that of its cells, see glad.Kind.
	Kind       string `json:"kind"`
	Iterations int    `json:"iterations"`
	Parameters int    `json:"parameters"`
	// EdgeParameters are those of the edge head, which gives the probability of an edge; 0
	// for a model without one.
	EdgeParameters int `json:"edge_parameters,omitzero"`

	Card card.Card `json:"card"`
}

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
	// Ranking says that it ranks pairs only: it has a list of edges and no precision
	// matrix.
	Ranking bool `json:"ranking,omitzero"`
	// NeedsRegulators says that it ranks edges that start at one of Job.Regulators, and
	// cannot do without.
	NeedsRegulators bool `json:"needs_regulators,omitzero"`
	// Description is one sentence on when to use it.
	Description string `json:"description"`
}
