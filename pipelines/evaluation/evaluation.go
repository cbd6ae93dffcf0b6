// Package evaluation scores networks against a known one: the estimates of a
// recovery, and lists of edges of any program.
//
//	r, err := evaluation.Run(ctx, job.Evaluation{EdgeList: "edges.parquet", Reference: "known.tsv"}, table.Files{})
package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A Result is the score of a list.
type Result struct {
	Version    string              `json:"version"`
	Evaluation job.Evaluation      `json:"evaluation"`
	Reference  job.ReferenceResult `json:"reference"`
	// SHA256 is the checksum of the list's bytes, Lines their number.
	SHA256 string `json:"edge_list_sha256"`
	Lines  int    `json:"lines"`
	// Warnings are sentences on what the user may not have intended.
	Warnings []string `json:"warnings,omitempty"`
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
	// Support compares the pairs that the list has with the reference.
	Support *job.ListSupport `json:"list_support,omitempty"`
	// Files are those that were written: Evaluation.Report, under that name.
	Files []job.WrittenFile `json:"files,omitempty"`
	// Metrics are those of metric.OfRankings. In JSON their keys stand beside
	// the others.
	Metrics job.Metrics `json:"-"`
	// AllMetrics are what the recovery that has written the list says of every pair of the
	// same population and reference, as job.SolverResult has them in Metrics; nil where its
	// metadata do not say.
	AllMetrics job.Metrics `json:"all_pairs_metrics,omitempty"`
}

// MarshalJSON writes one object, the metrics last.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return r.Metrics.MarshalBeside(plain(r))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (r *Result) UnmarshalJSON(data []byte) error {
	type plain Result
	var keys []string
	for _, m := range metric.OfRankings() {
		keys = append(keys, m.Key)
	}
	return r.Metrics.UnmarshalBeside(data, (*plain)(r), keys)
}

// Run scores a list of edges. With the defaults that is the protocol of the
// DREAM5 challenge: labelled ordered pairs, the list's order as the rank, pairs
// that are not in the list tied last. What the user can put right is a *job.Error.
func Run(ctx context.Context, e job.Evaluation, files table.Files) (*Result, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	job.Resolve(&e, job.Facts{})
	var report *output.File
	if e.Report != "" {
		var err error
		if report, err = output.OpenFileIn(files.Root, "report", e.Report); err != nil {
			return nil, err
		}
		defer report.Close()
	}
	r, draw, err := score(ctx, e, files)
	if err != nil {
		report.Discard()
		return nil, err
	}
	if report != nil {
		written, err := report.Write(draw().Encode)
		if err != nil {
			return nil, err
		}
		written.Name = r.Evaluation.Report
		r.Files = []job.WrittenFile{written}
	}
	return r, nil
}

// score is Run without the report. draw makes its page.
func score(ctx context.Context, e job.Evaluation, files table.Files) (r *Result, draw func() page.Page, err error) {
	edges, err := arrowio.ReadEdges(ctx, e.EdgeList, files.Lists())
	if err != nil {
		return nil, nil, job.InterruptedOr(ctx, table.FieldError("edge_list", err))
	}
	if edges.Matrix || edges.Metadata[output.MetaMatrix] != "" {
		return nil, nil, job.Errorf("edge_list", "%s is a precision matrix, whose values do not rank edges; give the list of edges, which recover writes as SOLVER.edges", arrowio.Redacted(e.EdgeList))
	}
	ref, err := ReadReference(ctx, e.Reference, files)
	if err != nil {
		return nil, nil, job.InterruptedOr(ctx, err)
	}
	names, err := variables(edges, ref)
	if err != nil {
		return nil, nil, err
	}
	pop, err := ref.Population(names, e.Population, e.Undirected)
	if err != nil {
		return nil, nil, err
	}
	list := metric.List{Source: edges.Source, Target: edges.Target, Undirected: e.Symmetric || symmetric(edges)}
	rank, err := rankedBy(e.Rank, edges)
	if err != nil {
		return nil, nil, err
	}
	if rank == job.RankScore {
		list.Score = edges.Score
	}
	ranking, err := pop.ScoreList(list)
	if _, named := edges.Metadata[output.MetaVariables]; named && errors.Is(err, metric.ErrNoneListed) {
		// The variables are those of the reference: the list has none of these pairs.
		ranking.Ranking, err = pop.Score(func(int, int) float64 { return 0 })
		ranking.Outside = edges.Len()
		ranking.Support = pop.Support(func(int, int) bool { return false })
	}
	if err != nil {
		return nil, nil, table.FieldError("edge_list", err)
	}
	var warnings []string
	if w := stale(e.EdgeList, edges.SHA256, edges.Metadata[output.MetaSolver]); w != "" {
		warnings = []string{w}
	}
	r = &Result{
		Version:    job.Version(),
		Evaluation: redacted(e),
		Reference:  ref.Result(pop),
		SHA256:     edges.SHA256,
		Lines:      edges.Len(),
		Warnings:   warnings,
		RankedBy:   rank,
		Symmetric:  list.Undirected,
		Listed:     ranking.Listed,
		Outside:    ranking.Outside,
		Repeated:   ranking.Repeated,
		Support:    ListSupport(ranking.Support),
		Metrics:    Metrics(metric.OfRankings(), metric.Scored{Ranking: ranking.Ranking}),
	}
	r.AllMetrics = allMetrics(edges.Metadata, r)
	return r, func() page.Page { return reportPage(r, pop, list, ranking.Ranking, names) }, nil
}

// ListSupport is what a document says of the pairs of a list.
func ListSupport(c metric.Confusion) *job.ListSupport {
	return &job.ListSupport{
		Pairs: c.TruePositives + c.FalsePositives, Positives: c.TruePositives,
		Precision: job.Float(c.Precision()), Recall: job.Float(c.TPR()), F1: job.Float(c.F1()),
	}
}

// allMetrics are the figures of every pair that the list's metadata have for the reference
// and the population of r.
func allMetrics(metadata map[string]string, r *Result) job.Metrics {
	text, ok := metadata[output.MetaMetrics]
	if !ok || metadata[output.MetaReferenceSHA256] != r.Reference.SHA256 || metadata[output.MetaPopulation] != r.Reference.Text {
		return nil
	}
	var m job.Metrics
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	return slices.DeleteFunc(m, func(v job.Metric) bool {
		return !slices.ContainsFunc(r.Metrics, func(w job.Metric) bool { return w.Key == v.Key })
	})
}

func symmetric(edges *arrowio.EdgeList) bool {
	return edges.Unordered || edges.Metadata[output.MetaDirected] == "false"
}

// variables are those that the list's metadata name, or else those of both
// files.
func variables(edges *arrowio.EdgeList, ref Reference) ([]string, error) {
	if text, ok := edges.Metadata[output.MetaVariables]; ok {
		var names []string
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			return nil, &job.Error{Field: "edge_list", Reason: fmt.Sprintf("the metadata %s is not a list of names (%v); write the file again", output.MetaVariables, err), Err: err}
		}
		return names, nil
	}
	both := metric.Reference{
		Source: slices.Concat(ref.Source, edges.Source),
		Target: slices.Concat(ref.Target, edges.Target),
	}
	return both.Names(), nil
}

// rankedBy is what ranks the list: job.RankOrder or job.RankScore.
func rankedBy(rank string, edges *arrowio.EdgeList) (string, error) {
	switch {
	case rank == job.RankScore && edges.Score == nil:
		return "", &job.Error{Field: "rank", Reason: "the list has no scores; rank it by the order of its lines"}
	case rank != job.RankAuto:
		return rank, nil
	case edges.Score == nil:
		return job.RankOrder, nil
	case symmetric(edges), edges.Metadata[output.MetaSolver] != "":
		return job.RankScore, nil
	}
	for i := 1; i < len(edges.Score); i++ {
		if edges.Score[i] > edges.Score[i-1] {
			return job.RankScore, nil
		}
	}
	return job.RankOrder, nil
}
