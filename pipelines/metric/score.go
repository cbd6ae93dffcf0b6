package metric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Score ranks the pairs of p by score(i, j), higher is better, with i and j
// positions in the table. In an undirected population i < j. A NaN score is an
// error.
func (p *Population) Score(score func(i, j int) float64) (Ranking, error) {
	scores, err := p.Scores(score)
	if err != nil {
		return Ranking{}, err
	}
	return Rank(scores, p.Positive)
}

// Scores are those of the pairs of p, in their order, as Score takes them: for Rank
// and for a Resampling.
func (p *Population) Scores(score func(i, j int) float64) ([]float64, error) {
	scores := make([]float64, len(p.Pairs))
	for k, q := range p.Pairs {
		v := score(int(q.I), int(q.J))
		if math.IsNaN(v) {
			return nil, fmt.Errorf("the score of %q and %q is NaN; every pair needs a score", p.names[q.I], p.names[q.J])
		}
		scores[k] = v
	}
	return scores, nil
}

// ErrNoneListed is wrapped when a list and a population share no pair.
var ErrNoneListed = errors.New("no pair of the list is in the population; check that list and reference use the same identifiers")

// A List is a network as a ranked list of pairs, such as an edge file. Source and
// Target have one length.
type List struct {
	Source, Target []string
	// Score, higher is better, orders the list; equal scores tie. Where it is
	// nil the order of the list is the rank, first is best, without ties:
	// that is how published lists are scored.
	Score []float64
	// Undirected says that a line stands for both directions. Otherwise it stands
	// for source to target only; an undirected population then takes the
	// better of the two directions.
	Undirected bool
}

// Order is the numbers of the lines, the best first; of equal scores, the first line.
func (l List) Order() []int {
	order := make([]int, len(l.Source))
	for k := range order {
		order[k] = k
	}
	if l.Score != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Score[b], l.Score[a]) })
	}
	return order
}

// A ListRanking is the Ranking of a List, and how much of the list it rests
// on.
type ListRanking struct {
	Ranking
	// Listed counts the pairs of the population that the list ranks. The others
	// tie below all of them.
	Listed int
	// Support is the list as a support: its pairs of the population against the truth.
	Support Confusion
	// Outside counts lines, repeats apart, whose pair is not in the population.
	Outside int
	// Repeated counts lines whose pair an earlier line holds; the better of the
	// two ranks is taken.
	Repeated int
}

// ScoreList ranks the pairs of p as the list orders them. Pairs that the list
// lacks tie last. It is an error if the list's slices differ in length, a
// score is not finite, or no line names a pair of p (ErrNoneListed).
func (p *Population) ScoreList(l List) (ListRanking, error) {
	n := len(l.Source)
	if len(l.Target) != n || l.Score != nil && len(l.Score) != n {
		return ListRanking{}, fmt.Errorf("the list has %d sources, %d targets and %d scores; give one of each a line", n, len(l.Target), len(l.Score))
	}
	var r ListRanking
	best := make(map[Pair]float64, n)
	for k := range n {
		v := float64(n - k)
		if l.Score != nil {
			v = l.Score[k]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ListRanking{}, fmt.Errorf("line %d of the list has score %v; scores must be finite", k+1, v)
		}
		i, iok := p.index[l.Source[k]]
		j, jok := p.index[l.Target[k]]
		if !iok || !jok || i == j {
			r.Outside++
			continue
		}
		q := Pair{i, j}
		if l.Undirected {
			q = q.unordered()
		}
		if before, ok := best[q]; ok {
			r.Repeated++
			v = math.Max(v, before)
		}
		best[q] = v
	}
	if err := p.rankListed(best, l.Undirected, &r); err != nil {
		return ListRanking{}, err
	}
	return r, nil
}

// rankListed completes r from the best score of each pair of the list.
func (p *Population) rankListed(best map[Pair]float64, undirected bool, r *ListRanking) error {
	scores := make([]float64, len(p.Pairs))
	used := make(map[Pair]struct{}, min(len(best), len(p.Pairs)))
	for k, q := range p.Pairs {
		v := math.Inf(-1)
		take := func(q Pair) {
			if w, ok := best[q]; ok {
				v = math.Max(v, w)
				used[q] = struct{}{}
			}
		}
		switch {
		case undirected:
			take(q.unordered())
		case p.Undirected:
			take(q)
			take(Pair{q.J, q.I})
		default:
			take(q)
		}
		listed := !math.IsInf(v, -1) // scores of the list are finite
		if listed {
			r.Listed++
		}
		r.Support.count(listed, p.Positive[k])
		scores[k] = v
	}
	r.Outside += len(best) - len(used)
	if r.Listed == 0 {
		return fmt.Errorf("population %v: %w", p, ErrNoneListed)
	}
	var err error
	r.Ranking, err = Rank(scores, p.Positive)
	return err
}
