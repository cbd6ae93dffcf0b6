package job

// A Benchmark runs solvers on many tables with known networks and sets them against
// one of them, the baseline. The zero value of every field but Sets is its default.
type Benchmark struct {
	// Sets is a folder of tables with references, or a list of them: see package
	// benchmark.
	Sets string `json:"sets" file:"read-folder" jsonschema:"required,minLength=1" jsonschema_description:"folder of tables with references, or a list of them: .csv, .tsv, .yaml or .yml"`
	// Root is the folder that paths in a list are relative to. Default: the list's.
	Root string `json:"root,omitzero" file:"read-folder" jsonschema_description:"folder that paths in the list are relative to; without it that of the list"`
	// Solvers run on every set. Default: all that can.
	Solvers []string `json:"solvers,omitzero" jsonschema:"minItems=1,uniqueItems=true" jsonschema_description:"solvers to run; without it all that can run on the set"`
	// Baseline is the solver whose figures are subtracted from the others'. It runs
	// whether or not Solvers names it.
	Baseline string `json:"baseline,omitzero" jsonschema:"default=correlation" jsonschema_description:"solver to compare the others with"`

	// Population, Undirected, Orientation, IDColumn and Background are those of sets
	// that do not say. Default of the population: labelled where the reference has
	// labels, all otherwise.
	Population  string `json:"population,omitzero" jsonschema:"enum=labelled,enum=all" jsonschema_description:"pairs to score, of sets that do not say; without it labelled where the reference has labels and all otherwise"`
	Undirected  bool   `json:"undirected,omitzero" jsonschema_description:"score unordered pairs, of sets that do not say"`
	Orientation string `json:"orientation,omitzero" jsonschema:"enum=rows,enum=columns" jsonschema_description:"what the samples are in the tables, of sets that do not say (default rows)"`
	IDColumn    string `json:"id_column,omitzero" jsonschema_description:"column that labels the rows, by name or as #N, of sets that do not say"`
	Background  string `json:"background,omitzero" jsonschema_description:"beginning of the names of variables that are not scored, of sets that do not say, such as bgr_"`

	Method
	// TimeLimit is that of Job.
	TimeLimit Duration `json:"time_limit,omitzero" jsonschema:"default=1m" jsonschema_description:"longest time for each solver on each set, such as 90s or 2m; what it has found by then is scored"`

	Bootstrap

	// Metrics are those that are printed, see metric.OfRankings; files have all.
	Metrics []string `json:"metrics,omitzero" jsonschema:"default=auroc,default=aupr,default=early_precision,minItems=1,uniqueItems=true" jsonschema_description:"metrics to print; the files have all of them"`

	// Out is the folder for the files and for what is done, which a later run does not
	// repeat. Default: no files.
	Out string `json:"out,omitzero" file:"write-folder" jsonschema_description:"folder for the files; what is done there is not repeated unless its inputs, its options or the program have changed"`
	// Report is an HTML page to look at, made where it is missing and replaced whole.
	// Default: none.
	Report string `json:"report,omitzero" file:"write" jsonschema:"pattern=[.]html$" jsonschema_description:"page to look at, with tables and what each solver is worth on every set drawn: one HTML file whose name ends in .html"`
	// Format is that of the tables.
	Format string `json:"format,omitzero" jsonschema:"default=parquet" jsonschema_description:"format of the tables written"`
	// Repeat does everything again.
	Repeat bool `json:"repeat,omitzero" jsonschema_description:"repeat what is done too"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Solving is the job for the solvers of every set, without its input.
func (b Benchmark) Solving() Job { return b.Method.job(b.TimeLimit) }
