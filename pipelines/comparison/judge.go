package comparison

import (
	"context"
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
)

// Settings say what a Judge scores on.
type Settings struct {
	// Kind and Undirected are those of the population. Default: labelled, directed.
	Kind       metric.Kind
	Undirected bool
	// Scored says of a variable whether its pairs are scored. Default (nil): all are.
	Scored func(name string) bool
	// Resamples is the number of bootstrap samples, Seed that of their random
	// numbers. Default (0): there are no standard errors.
	Resamples int
	Seed      uint64
}

// A Judge scores solvers on one population, all on the same bootstrap samples.
type Judge struct {
	// Population is what is scored on. Positions are those among the variables that
	// are scored.
	Population *metric.Population

	samples *metric.Resampling
	at      []int // positions in the table of those variables
}

// NewJudge makes the population of a known network on a table's variables. Errors are
// those of metric.Reference.Population, as a *job.Error of the field reference.
func NewJudge(known metric.Reference, names []string, s Settings) (*Judge, error) {
	j := &Judge{}
	var scored []string
	for i, name := range names {
		if s.Scored == nil || s.Scored(name) {
			scored = append(scored, name)
			j.at = append(j.at, i)
		}
	}
	var err error
	if j.Population, err = known.Population(scored, s.Kind, s.Undirected); err != nil {
		return nil, table.FieldError("reference", err)
	}
	j.samples = j.Population.Resample(s.Resamples, s.Seed)
	return j, nil
}

// Figures are the metrics of a ranking, see metric.OfRankings, with those on every
// bootstrap sample.
type Figures struct {
	Metrics job.Metrics `json:"metrics"`
	// Resampled has the values of a metric, by its key, one for each sample; nil
	// where there are none.
	Resampled map[string][]float64 `json:"resampled,omitempty"`
}

// Rank ranks the pairs of the population by scores on all variables of the table.
func (j *Judge) Rank(s *Scores) (metric.Ranking, error) {
	scores, err := j.scores(s)
	if err != nil {
		return metric.Ranking{}, err
	}
	return metric.Rank(scores, j.Population.Positive)
}

// Support counts the pairs of the population that selected picks by their positions in the
// table against the truth.
func (j *Judge) Support(selected func(i, k int) bool) metric.Confusion {
	return j.Population.Support(func(a, b int) bool { return selected(j.at[a], j.at[b]) })
}

// scores are those of the pairs of the population.
func (j *Judge) scores(s *Scores) ([]float64, error) {
	score := s.At
	if j.Population.Undirected {
		score = s.Unordered
	}
	return j.Population.Scores(func(a, b int) float64 { return score(j.at[a], j.at[b]) })
}

// Score measures scores on all variables of the table. The error is that of ctx, or
// says which pair has a score of NaN.
func (j *Judge) Score(ctx context.Context, s *Scores) (Figures, error) {
	scores, err := j.scores(s)
	if err != nil {
		return Figures{}, err
	}
	ranking, err := metric.Rank(scores, j.Population.Positive)
	if err != nil {
		return Figures{}, err
	}
	resampled, err := j.samples.Rank(ctx, scores)
	if err != nil {
		return Figures{}, job.InterruptedOr(ctx, err)
	}
	var f Figures
	if len(resampled) > 0 {
		f.Resampled = make(map[string][]float64)
	}
	for _, m := range metric.OfRankings() {
		f.Metrics = append(f.Metrics, job.Metric{Key: m.Key, Value: job.Float(m.Value(metric.Scored{Ranking: ranking}))})
		for _, r := range resampled {
			f.Resampled[m.Key] = append(f.Resampled[m.Key], m.Value(metric.Scored{Ranking: r}))
		}
	}
	return f, nil
}

// Value is the metric of a key, NaN if there is none.
func (f Figures) Value(key string) float64 { return float64(f.Metrics.Get(key)) }

// StandardError is that of Value, NaN where nothing was resampled.
func (f Figures) StandardError(key string) float64 {
	return metric.StandardDeviation(f.Resampled[key])
}

// Minus is the difference of a metric of f and of another solver on the same
// population, and its standard error: that of the differences on the same bootstrap
// samples.
func (f Figures) Minus(other Figures, key string) (difference, standardError float64) {
	mine, others := f.Resampled[key], other.Resampled[key]
	difference = f.Value(key) - other.Value(key)
	if len(mine) != len(others) {
		return difference, math.NaN()
	}
	differences := slices.Clone(mine)
	for b, v := range others {
		differences[b] -= v
	}
	return difference, metric.StandardDeviation(differences)
}
