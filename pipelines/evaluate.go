package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// An Evaluation scores a list of edges against a reference network. The zero
// value of every field but the first two is its default.
type Evaluation struct {
	// EdgeList is the list: a path, or "-" for standard input.
	EdgeList string `json:"edge_list" jsonschema:"required,minLength=1" jsonschema_description:"list of edges, best first: columns source, target and, if any, score"`
	// Reference is the network that is held to be true.
	Reference string `json:"reference" jsonschema:"required,minLength=1" jsonschema_description:"known network: columns source, target and, if labelled, 0 or 1"`
	// Population says which pairs are scored: those that the reference lists,
	// or every pair of the variables. The variables are those that the list's
	// metadata name or, without any, those of both files.
	Population string `json:"population,omitzero" jsonschema:"enum=labelled,enum=all,default=labelled" jsonschema_description:"pairs to score: those that the reference lists, or all pairs of variables"`
	// Undirected scores unordered pairs; one is an edge if either direction
	// is in the reference.
	Undirected bool `json:"undirected,omitzero" jsonschema_description:"score unordered pairs instead of ordered ones"`
	// Symmetric says that a line of the list stands for both directions, as
	// in the lists that Run writes, which say so themselves.
	Symmetric bool `json:"symmetric,omitzero" jsonschema_description:"a line of the list stands for both directions; files of gladflow say so themselves"`
	// Rank says what ranks the list: the order of its lines, ties aside, or
	// its scores, equal ones tied. auto takes the order, as the DREAM5
	// challenge does, where the scores do not contradict it, and the scores
	// otherwise and for files of gladflow.
	Rank string `json:"rank,omitzero" jsonschema:"enum=auto,enum=order,enum=score,default=auto" jsonschema_description:"what ranks the list: the order of its lines, or the scores"`
	// JSON asks for one JSON document. Evaluate leaves it to the command.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Ways to rank a list.
const (
	RankAuto  = "auto"
	RankOrder = "order"
	RankScore = "score"
)

// Validate reports the first field that is wrong, as a *JobError.
func (e Evaluation) Validate() error {
	switch {
	case e.EdgeList == "":
		return wrong("edge_list", "no list of edges is named; give the path of one, or - for standard input")
	case e.Reference == "":
		return wrong("reference", "no reference is named; give the path of a known network")
	case e.EdgeList == "-" && e.Reference == "-":
		return wrong("reference", "standard input is the list of edges already; name a file")
	}
	return checkChoices(&e)
}

// An EvaluationResult is how a list fared.
type EvaluationResult struct {
	Version    string          `json:"version"`
	Evaluation Evaluation      `json:"evaluation"`
	Reference  ReferenceResult `json:"reference"`
	// SHA256 is the checksum of the list's bytes, Lines their number.
	SHA256 string `json:"edge_list_sha256"`
	Lines  int    `json:"lines"`
	// RankedBy is "order" or "score"; Symmetric says that lines stood for
	// both directions.
	RankedBy  string `json:"ranked_by"`
	Symmetric bool   `json:"symmetric"`
	// Listed counts the pairs of the population that the list ranks; the
	// others tie last. Outside counts lines whose pair is not in the
	// population, Repeated lines whose pair stood there before.
	Listed   int `json:"listed"`
	Outside  int `json:"outside"`
	Repeated int `json:"repeated"`
	// The figures, see metric.Ranking.
	AUROC            Figure `json:"auroc"`
	AUPR             Figure `json:"aupr"`
	AveragePrecision Figure `json:"average_precision"`
}

// Evaluate scores a list of edges. With the defaults that is the protocol of
// the DREAM5 challenge: labelled ordered pairs, the list's order as the rank,
// pairs that are not in the list tied last. What the user can put right is a
// *JobError.
func Evaluate(ctx context.Context, e Evaluation, host Host) (*EvaluationResult, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	fillDefaults(&e)
	options := arrowio.ListOptions{Stdin: host.Stdin, Stores: host.Stores, Fixed: []string{"input_format"}}
	edges, err := arrowio.ReadEdges(ctx, e.EdgeList, options)
	if err != nil {
		return nil, ended(ctx, blame("edge_list", err))
	}
	ref, err := arrowio.ReadReference(ctx, e.Reference, options)
	if err != nil {
		return nil, ended(ctx, blame("reference", err))
	}
	names, err := variables(edges, ref)
	if err != nil {
		return nil, err
	}
	pop, err := population(ref, names, e.Population, e.Undirected)
	if err != nil {
		return nil, blame("reference", err)
	}
	list := metric.List{Source: edges.Source, Target: edges.Target, Undirected: e.Symmetric || symmetric(edges)}
	rank, err := rankedBy(e.Rank, edges)
	if err != nil {
		return nil, err
	}
	if rank == RankScore {
		list.Score = edges.Score
	}
	ranking, err := pop.ScoreList(list)
	if err != nil {
		return nil, blame("edge_list", err)
	}
	return &EvaluationResult{
		Version:          Version,
		Evaluation:       e,
		Reference:        ReferenceResult{Path: e.Reference, SHA256: ref.SHA256, PopulationResult: populationResult(pop)},
		SHA256:           edges.SHA256,
		Lines:            edges.Len(),
		RankedBy:         rank,
		Symmetric:        list.Undirected,
		Listed:           ranking.Listed,
		Outside:          ranking.Outside,
		Repeated:         ranking.Repeated,
		AUROC:            Figure(ranking.AUROC),
		AUPR:             Figure(ranking.AUPR),
		AveragePrecision: Figure(ranking.AveragePrecision),
	}, nil
}

func symmetric(edges *arrowio.EdgeList) bool {
	return edges.Unordered || edges.Metadata[MetaDirected] == "false"
}

// variables are those that the list's metadata name, or else those of both
// files.
func variables(edges *arrowio.EdgeList, ref *arrowio.Reference) ([]string, error) {
	if text, ok := edges.Metadata[MetaVariables]; ok {
		var names []string
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			return nil, &JobError{Field: "edge_list", Reason: fmt.Sprintf("the metadata %s is not a list of names (%v); write the file again", MetaVariables, err), Err: err}
		}
		return names, nil
	}
	both := metric.Reference{
		Source: slices.Concat(ref.Source, edges.Source),
		Target: slices.Concat(ref.Target, edges.Target),
	}
	return both.Names(), nil
}

// rankedBy settles what ranks the list.
func rankedBy(rank string, edges *arrowio.EdgeList) (string, error) {
	switch {
	case rank == RankScore && edges.Score == nil:
		return "", &JobError{Field: "rank", Reason: "the list has no scores; rank it by the order of its lines"}
	case rank != RankAuto:
		return rank, nil
	case edges.Score == nil:
		return RankOrder, nil
	case symmetric(edges):
		return RankScore, nil
	}
	for i := 1; i < len(edges.Score); i++ {
		if edges.Score[i] > edges.Score[i-1] {
			return RankScore, nil
		}
	}
	return RankOrder, nil
}
