package job

// A Simulation is networks of a family with samples of them, to try solvers on
// and to train with. The zero value of every field but Family and Out is its
// default.
type Simulation struct {
	// Family is the kind of graph, one of simulate.Graphs.
	Family string `json:"family" jsonschema:"required" jsonschema_description:"kind of graph"`
	// Dimension is d, the number of variables.
	Dimension int `json:"dimension,omitzero" jsonschema:"minimum=0,default=100" jsonschema_description:"number of variables"`
	// Samples is m, the number of samples of each network.
	Samples int `json:"samples,omitzero" jsonschema:"minimum=0,default=100" jsonschema_description:"number of samples of each network"`
	// Graphs is the number of networks. The k-th does not depend on how many
	// there are.
	Graphs int `json:"graphs,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"number of networks"`
	// Seed chooses the random numbers: the same simulation gives the same bytes.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the random numbers; the same seed gives the same files"`

	// Density is the probability of an edge, see simulate.Family.
	Density float64 `json:"density,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"probability of an edge in er, or within a block in block; 0 is the default, 0.1 and 0.3"`
	// Links is the number of edges of each new variable of scale-free.
	Links int `json:"links,omitzero" jsonschema:"minimum=0" jsonschema_description:"edges that each new variable of scale-free brings; 0 is the default, 1"`
	// Groups is the number of hubs or blocks.
	Groups int `json:"groups,omitzero" jsonschema:"minimum=0" jsonschema_description:"number of hubs or blocks; 0 is the default, one for 20 variables"`
	// Bandwidth is the number of neighbours on each side of band.
	Bandwidth int `json:"bandwidth,omitzero" jsonschema:"minimum=0" jsonschema_description:"neighbours on each side in band; 0 is the default, 2"`
	// Neighbours is how many each variable of small-world has on the ring.
	Neighbours int `json:"neighbours,omitzero" jsonschema:"minimum=0" jsonschema_description:"neighbours that each variable of small-world has on the ring, an even number; 0 is the default, 4"`
	// Rewiring is the probability that an edge of small-world leaves it.
	Rewiring float64 `json:"rewiring,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"probability that an edge of small-world leaves the ring; 0 is the default, 0.1"`
	// Weights is the range of the uniform weights, LOW:HIGH.
	Weights string `json:"weights,omitzero" jsonschema:"default=-1:1" jsonschema_description:"range LOW:HIGH of the uniform draws of weights"`
	// Symmetrisation is how two draws make one weight, see simulate.Family.
	Symmetrisation string `json:"symmetrisation,omitzero" jsonschema:"enum=sym,enum=avg,default=sym" jsonschema_description:"weights: sym draws one for both triangles, avg is the mean of two"`
	// SmallestEigenvalue is that of the precision matrix, before Scales.
	SmallestEigenvalue float64 `json:"smallest_eigenvalue,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"smallest eigenvalue of the precision matrix; the diagonal is raised to it"`
	// Scales is a range LOW:HIGH of factors by which Θ's rows and columns are
	// multiplied, or one number, the SPREAD of their logarithms around zero; see
	// simulate.Family. Default: none.
	Scales string `json:"scales,omitzero" jsonschema_description:"factors on rows and columns of the precision matrix, for variables of unequal variance: SPREAD draws their logarithms uniformly from -SPREAD to SPREAD, LOW:HIGH the factors themselves; without it none"`

	// Name is what the files are called: NAME.parquet, or NAME-1.parquet and so
	// on for several networks. Default: the family.
	Name string `json:"name,omitzero" jsonschema_description:"name of the files, before the number of the network; without it the family"`
	// Out is the folder for the files, made where it is missing. Files of the
	// same name are replaced, each at once and whole.
	Out string `json:"out" file:"write-folder" jsonschema:"required,minLength=1" jsonschema_description:"folder to write the files to"`
	// Format is that of samples and precision matrices.
	Format string `json:"format,omitzero" jsonschema:"default=parquet" jsonschema_description:"format of the tables written"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Resolved returns s with every default filled in that is a value.
func (s Simulation) Resolved() Simulation {
	r := s
	Resolve(&r, Facts{})
	if r.Name == "" {
		r.Name = r.Family
	}
	return r
}
