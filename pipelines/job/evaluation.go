package job

// An Evaluation scores a list of edges against a reference network. The zero
// value of every field but the first two is its default.
type Evaluation struct {
	// EdgeList is the list: a path, or "-" for standard input.
	EdgeList string `json:"edge_list" file:"read" jsonschema:"required,minLength=1" jsonschema_description:"list of edges, best first: columns source, target and, if any, score"`
	// Reference is the known network.
	Reference string `json:"reference" file:"read" jsonschema:"required,minLength=1" jsonschema_description:"known network: columns source, target and, if labelled, 0 or 1"`
	// Population says which pairs are scored: those that the reference lists,
	// or every pair of the variables. The variables are those that the list's
	// metadata name or, without any, those of both files.
	Population string `json:"population,omitzero" jsonschema:"enum=labelled,enum=all,default=labelled" jsonschema_description:"pairs to score: those that the reference lists, or all pairs of variables"`
	// Undirected scores unordered pairs; one is an edge if either direction
	// is in the reference.
	Undirected bool `json:"undirected,omitzero" jsonschema_description:"score unordered pairs instead of ordered ones"`
	// Symmetric says that a line of the list stands for both directions. Lists
	// that a recovery has written say so themselves.
	Symmetric bool `json:"symmetric,omitzero" jsonschema_description:"a line of the list stands for both directions; files of gladflow say so themselves"`
	// Rank says what ranks the list: the order of its lines, ties aside, or
	// its scores, equal ones tied. auto takes the order, as the DREAM5
	// challenge does, where the scores do not contradict it, and the scores
	// otherwise and for files of gladflow.
	Rank string `json:"rank,omitzero" jsonschema:"enum=auto,enum=order,enum=score,default=auto" jsonschema_description:"what ranks the list: the order of its lines, or the scores"`
	// Report is an HTML page to look at, made where it is missing and replaced whole.
	// Default: none.
	Report string `json:"report,omitzero" file:"write" jsonschema:"pattern=[.]html$" jsonschema_description:"page to look at, with tables, curves and the network drawn: one HTML file whose name ends in .html"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Ways to rank a list.
const (
	RankAuto  = "auto"
	RankOrder = "order"
	RankScore = "score"
)

// Validate reports the first field that is wrong, as a *Error.
func (e Evaluation) Validate() error {
	switch {
	case e.EdgeList == "":
		return Errorf("edge_list", "no list of edges is named; give the path of one, or - for standard input")
	case e.Reference == "":
		return Errorf("reference", "no reference is named; give the path of a known network")
	}
	if err := checkStdin(&e); err != nil {
		return err
	}
	if err := CheckReport(e.Report); err != nil {
		return err
	}
	return CheckFields(&e, Facts{})
}
