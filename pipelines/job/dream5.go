package job

// A Dream5 scores solvers on a network of the DREAM5 or DREAM4 challenge. The zero
// value of every field but Folder is its default.
type Dream5 struct {
	// Folder has the challenge's files, in sub-folders too, gzip-compressed or not:
	// see package dream5 for their names.
	Folder string `json:"folder" file:"read-folder" jsonschema:"required,minLength=1" jsonschema_description:"folder with the files of the challenge"`
	// Network is one of those in the folder. Default: 3 if it is there, else the first.
	Network string `json:"network,omitzero" jsonschema:"pattern=^([1-9]|size[0-9]+_[1-9])$" jsonschema_description:"network: 1, 3 or 4 of DREAM5, or size100_1 and the like of DREAM4; without it 3 or, where that is not there, the first in the folder"`
	// Genes says which of the table's are used.
	Genes string `json:"genes,omitzero" jsonschema:"enum=gold,enum=all,default=gold" jsonschema_description:"genes of the table to use: those that the gold standard names, or all"`
	// Solvers run without the list of regulators and, if there is one, with it.
	// Default: all but am.
	Solvers []string `json:"solvers,omitzero" jsonschema:"minItems=1,uniqueItems=true" jsonschema_description:"solvers to run; without it all that can but am"`
	// Baselines are the solvers whose figures are subtracted from the others'. Those
	// that are not run are left out.
	Baselines []string `json:"baselines,omitzero" jsonschema:"default=correlation,default=ridge,default=clr,uniqueItems=true" jsonschema_description:"solvers to compare the others with, as far as they are run"`

	Method
	// TimeLimit is that of Job.
	TimeLimit Duration `json:"time_limit,omitzero" jsonschema:"default=20s" jsonschema_description:"longest time for each solver, such as 90s or 2m; what it has found by then is scored"`

	Bootstrap

	// Out is the folder for metrics, ranked lists and dream5.json. Default: no files.
	Out string `json:"out,omitzero" file:"write-folder" jsonschema_description:"folder for the metrics and the ranked lists; without it nothing is written"`
	// Report is an HTML page to look at, made where it is missing and replaced whole.
	// Default: none.
	Report string `json:"report,omitzero" file:"write" jsonschema:"pattern=[.]html$" jsonschema_description:"page to look at, with tables, curves and the networks drawn: one HTML file whose name ends in .html"`
	// Format is that of the metrics.
	Format string `json:"format,omitzero" jsonschema:"default=parquet" jsonschema_description:"format of the metrics"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Solving is the job for the solvers, without its input and its regulators.
func (d Dream5) Solving() Job { return d.Method.job(d.TimeLimit) }

// GenesAll is the value of Dream5.Genes for all genes of the table.
const GenesAll = "all"
