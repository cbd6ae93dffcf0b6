package job

// A GeneSimulation is tables of gene expression with the network behind each, to try
// rankings on and to train them with. The zero value of every field but Out is its
// default.
type GeneSimulation struct {
	// Family is how expression follows from the network, one of genes.Families.
	Family string `json:"family,omitzero" jsonschema:"default=syntren" jsonschema_description:"how expression follows from the network"`
	// Network is a file with the network, for the family syntren; empty for a random
	// one. Of the types in a SIF (extension .sif or .sif.gz) ac and + activate, re and -
	// repress, and the signs of others are drawn.
	Network string `json:"network,omitzero" file:"read" jsonschema_description:"file of a network that is read, for the family syntren: a SIF, whose types ac and re are signs, or a list of source and target; without it a random one"`
	// Genes is the number of genes of the network, without background.
	Genes int `json:"genes,omitzero" jsonschema:"minimum=0" jsonschema_description:"number of genes, a sub-network of that size where a network is read; 0 is the default, 100, or all of the network that is read"`
	// Subnetwork is how a sub-network is grown.
	Subnetwork string `json:"subnetwork,omitzero" jsonschema:"enum=neighbours,enum=clusters,default=neighbours" jsonschema_description:"how a sub-network is grown from a random gene: by one neighbour after the other, or by a gene and all its neighbours"`
	// Regulators is the number of genes of a random network that may have targets,
	// Links the mean number of a gene's regulators.
	Regulators int     `json:"regulators,omitzero" jsonschema:"minimum=0" jsonschema_description:"genes of a random network that may regulate others, for the family syntren; 0 is the default, one in five"`
	Links      float64 `json:"links,omitzero" jsonschema:"minimum=0" jsonschema_description:"mean number of regulators of a gene in a random network, for the family syntren; 0 is the default, 1.5"`
	// Decoys is the number of genes without a target that are listed as regulators.
	Decoys int `json:"decoys,omitzero" jsonschema:"minimum=0" jsonschema_description:"genes without a target that are listed as regulators all the same, for the family syntren"`
	// Background is the number of genes that are in the table but carry nothing of
	// the network.
	Background int `json:"background,omitzero" jsonschema:"minimum=0" jsonschema_description:"genes beside the network whose inputs are held constant, for the family syntren"`
	// Samples is the number of samples of each table, Sets that of the tables.
	Samples int `json:"samples,omitzero" jsonschema:"minimum=0,default=100" jsonschema_description:"number of samples of each table"`
	Sets    int `json:"sets,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"number of tables, each with a network of its own"`
	// Seed chooses the random numbers: the same simulation gives the same bytes.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the random numbers; the same seed gives the same files"`

	// Laws are the rate laws of the family syntren, see genes.Drawing.
	Laws string `json:"laws,omitzero" jsonschema:"enum=mixed,enum=steep,default=mixed" jsonschema_description:"rate laws of the family syntren: mixed are of several forms, most without cooperation, steep are Hill functions with exponents from 2.6 to 4.9"`
	// Activators is the share of the edges without a sign that activate.
	Activators Value `json:"activators,omitzero" jsonschema:"default=0.6" jsonschema_description:"share of the edges without a sign that activate, for the family syntren"`
	// Unsigned draws the signs of a network that is read.
	Unsigned bool `json:"unsigned,omitzero" jsonschema_description:"draw the signs of a network that is read, whatever the file says"`
	// Correlated is the share of the inputs that follow another one.
	Correlated Value `json:"correlated,omitzero" jsonschema:"default=0.5" jsonschema_description:"share of the inputs that follow another input, for the family syntren"`
	// Noise is that of rates, of measurement and of inputs that follow another, as
	// the standard deviation of a logarithm; each can be set alone.
	Noise            Value `json:"noise,omitzero" jsonschema:"default=0.1" jsonschema_description:"standard deviation of all three noises of the family syntren, of the logarithm"`
	BiologicalNoise  Value `json:"biological_noise,omitzero" jsonschema_description:"noise of the rates; without it that of noise"`
	MeasurementNoise Value `json:"measurement_noise,omitzero" jsonschema_description:"noise of the table; without it that of noise"`
	InputNoise       Value `json:"input_noise,omitzero" jsonschema_description:"noise of inputs that follow another; without it that of noise"`
	// Scaled multiplies every gene by its highest expression.
	Scaled bool `json:"scaled,omitzero" jsonschema_description:"multiply every gene by a highest expression of its own, for the family syntren; without it values are from 0 to 1"`
	// Marginals are distorted marginal distributions, one of genes.Marginals.
	Marginals string `json:"marginals,omitzero" jsonschema:"default=plain" jsonschema_description:"distortion of the marginal distributions"`

	// Name is what the files are called: NAME.parquet, or NAME-1.parquet and so on
	// for several tables. Default: the family.
	Name string `json:"name,omitzero" jsonschema_description:"name of the files, before the number of the table; without it the family"`
	// Out is the folder for the files, made where it is missing. Files of the same
	// name are replaced, each at once and whole.
	Out string `json:"out" file:"write-folder" jsonschema:"required,minLength=1" jsonschema_description:"folder to write the files to"`
	// Format is that of the tables.
	Format string `json:"format,omitzero" jsonschema:"default=parquet" jsonschema_description:"format of the tables written"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Resolved returns s with every default filled in that is a value.
func (s GeneSimulation) Resolved() GeneSimulation {
	r := s
	Resolve(&r, Facts{})
	if r.Name == "" {
		r.Name = r.Family
	}
	for _, noise := range []*Value{&r.BiologicalNoise, &r.MeasurementNoise, &r.InputNoise} {
		if *noise == "" {
			*noise = r.Noise
		}
	}
	if r.Genes == 0 && r.Network == "" {
		r.Genes = 100
	}
	if r.Regulators == 0 && r.Network == "" {
		r.Regulators = max(1, r.Genes/5)
	}
	if r.Links == 0 && r.Network == "" {
		r.Links = min(1.5, float64(r.Regulators))
	}
	return r
}
