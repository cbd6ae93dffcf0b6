package recovery

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// scoreList scores the list of edges of a solver, n pairs that at returns with their
// scores, best first: the pairs that it lacks tie last, as in an evaluation of its file.
// It also compares the pairs that are listed with the reference. Figures that are those of every pair are not repeated.
func (r *run) scoreList(s *solution, n int, at func(k int) (i, j int, score float64)) error {
	d := len(r.table.Names)
	every := d * (d - 1) / 2
	if s.ranking != nil {
		every = s.ranking.pairs(d)
	}
	if r.population == nil {
		return nil
	}
	score := r.listedScorer(s, n, at)
	s.result.ListSupport = evaluation.ListSupport(r.population.Support(func(i, j int) bool {
		return !math.IsInf(score(i, j), -1)
	}))
	if n == every {
		return nil
	}
	scored, err := evaluation.ScoreRanking(r.population, score)
	if err != nil {
		return err
	}
	figures := evaluation.Metrics(metric.OfRankings(), scored)
	same := func(m job.Metric) bool { return s.result.Metrics.Get(m.Key) == m.Value }
	if !slices.ContainsFunc(figures, func(m job.Metric) bool { return !same(m) }) {
		return nil
	}
	s.result.ListMetrics = figures
	return nil
}

// listedScorer is the score of variables i and j in a list, of the better direction in an
// undirected population, and minus infinity where the list lacks the pair.
func (r *run) listedScorer(s *solution, n int, at func(k int) (i, j int, score float64)) func(i, j int) float64 {
	last := math.Inf(-1)
	if s.ranking == nil && r.job.Edges == job.EdgesSupport {
		return func(i, j int) float64 {
			if !s.IsEdge(i, j) {
				return last
			}
			return s.Score(i, j)
		}
	}
	directed := s.ranking != nil && s.ranking.sources != nil
	score := s.Score
	if s.ranking != nil {
		score = s.ranking.scorer(len(r.table.Names), false)
	}
	// Of the pairs that have the score of the last one listed, only some may be listed.
	cut := math.Inf(1)
	tied := make(map[metric.Pair]bool)
	for k := n - 1; k >= 0; k-- {
		i, j, v := at(k)
		if k == n-1 {
			cut = v
		}
		if v > cut {
			break
		}
		tied[metric.Pair{I: int32(i), J: int32(j)}] = true
		if !directed {
			tied[metric.Pair{I: int32(j), J: int32(i)}] = true
		}
	}
	wanted := r.lists(s.kept)
	listed := func(i, j int) float64 {
		if v := score(i, j); !wanted(i, j) {
			return last
		} else if v > cut || v == cut && tied[metric.Pair{I: int32(i), J: int32(j)}] {
			return v
		}
		return last
	}
	if directed && r.population.Undirected {
		return func(i, j int) float64 { return max(listed(i, j), listed(j, i)) }
	}
	return listed
}
