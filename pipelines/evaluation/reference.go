package evaluation

import (
	"context"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
)

// A Reference is a known network that was read from a file.
type Reference struct {
	*arrowio.Reference
	path string
}

// field is the key of every document's reference.
const field = "reference"

// ReadReference reads a known network. What the user can put right is a
// *job.Error of the field reference.
func ReadReference(ctx context.Context, path string, f table.Files) (Reference, error) {
	ref, err := arrowio.ReadReference(ctx, path, f.Lists())
	return Reference{ref, path}, table.FieldError(field, err)
}

// network is r without where it comes from.
func (r Reference) network() metric.Reference {
	return metric.Reference{Source: r.Source, Target: r.Target, Label: r.Label}
}

// Population is the pairs of names that r is scored on, by the fields of a
// document of these names. What the user can put right is a *job.Error.
func (r Reference) Population(names []string, population string, undirected bool) (*metric.Population, error) {
	kind, err := metric.ParseKind(population)
	if err != nil {
		return nil, &job.Error{Field: "population", Err: err}
	}
	p, err := r.network().Population(names, kind, undirected)
	return p, table.FieldError(field, err)
}

// Result describes r and its population.
func (r Reference) Result(p *metric.Population) job.ReferenceResult {
	return job.ReferenceResult{Path: arrowio.Redacted(r.path), SHA256: r.SHA256, PopulationResult: job.PopulationResult{
		Population:       p.Kind.String(),
		Directed:         !p.Undirected,
		Pairs:            len(p.Pairs),
		Positives:        p.Positives,
		Skipped:          p.Skipped,
		SkippedPositives: p.SkippedPositives,
		SelfLoops:        p.SelfLoops,
		Text:             p.String(),
	}}
}

// Score ranks the pairs of a population by the estimate's score, and compares its
// support with the truth. Its figures are Metrics.
func Score(p *metric.Population, est *solver.Estimate) (metric.Scored, error) {
	ranking, err := p.Score(est.Score)
	if err != nil {
		return metric.Scored{}, err
	}
	return metric.Scored{
		Ranking: ranking,
		Support: p.Support(est.IsEdge),
	}, nil
}

// ScoreRanking ranks the pairs of a population by a score of the variables i and j,
// from i to j in a directed population.
func ScoreRanking(p *metric.Population, score func(i, j int) float64) (metric.Scored, error) {
	ranking, err := p.Score(score)
	return metric.Scored{Ranking: ranking}, err
}

// Metrics are the figures of a table of metrics for a network that was compared with a
// population.
func Metrics(table []metric.Metric, s metric.Scored) job.Metrics {
	var values job.Metrics
	for _, m := range table {
		values = append(values, job.Metric{Key: m.Key, Value: job.Float(m.Value(s))})
	}
	return values
}
