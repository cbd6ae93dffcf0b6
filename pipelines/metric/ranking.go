package metric

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// A Ranking is how well scores put positive pairs before negative ones.
//
// Pairs of equal score form a tied group. A group of n pairs, k of them
// positive, that follows N pairs, P of them positive, contributes as written at
// each field; Π is the number of positives in all. Every field depends on the
// order of the scores only, not on their values.
//
// AUROC, AUPR and AveragePrecision treat a tie as an order left to chance.
// StepAveragePrecision treats it as one threshold. With few or no ties the two
// average precisions are the same number; for sparse estimates, where most pairs
// tie at zero, they are not: of GRNBoost's list on the E. coli network of
// DREAM5, which leaves 139,989 of 152,280 pairs unlisted, AUPR is 0.1226,
// AveragePrecision 0.1229 and StepAveragePrecision 0.1186.
type Ranking struct {
	// Pairs and Positives count what was scored.
	Pairs, Positives int
	// AUROC is the probability that a positive scores higher than a negative,
	// a tie counting one half. The count behind it is exact.
	AUROC float64
	// AUPR is the area under the precision-recall curve by the trapezoidal
	// rule over all ranks, where inside a tied group positives come at the
	// expected random rate: with precision p(r) = (P + r·k/n)/(N + r) after r
	// pairs of the group,
	//
	//	k/(n·Π) · Σ_{r=1..n} (p(r−1) + p(r))/2,
	//
	// the curve starting level, p(0) = p(1), in the first group. It is how the
	// DREAM5 challenge continues a list that does not rank every pair
	// (Marbach et al., Nature Methods 9:796, 2012); the challenge's own figure
	// leaves out the segment before the first pair and divides by 1 − 1/Π,
	// which for a list of 2,066 positives is up to 0.0005 less.
	AUPR float64
	// AveragePrecision is the mean over the positives of the precision at
	// their rank, in expectation over random order inside ties:
	//
	//	k/(n·Π) · Σ_{r=1..n} (P + 1 + (r−1)·(k−1)/(n−1))/(N + r).
	AveragePrecision float64
	// StepAveragePrecision is the same mean with every tied group taken whole,
	// as scikit-learn's average_precision_score does:
	//
	//	k/Π · (P + k)/(N + n).
	StepAveragePrecision float64
	// EarlyPrecision is the share of positives among the best Π pairs, in
	// expectation over random order inside a tied group that the bound cuts: what
	// BEELINE measures with (Pratapa et al., Nature Methods 17:147, 2020), which
	// takes such a group whole.
	EarlyPrecision float64

	// pos and neg are the scores, ascending: see Groups.
	pos, neg []float64
}

// EarlyPrecisionRatio is EarlyPrecision over that of an order left to chance,
// Π/Pairs: BEELINE's early precision ratio.
func (r Ranking) EarlyPrecisionRatio() float64 {
	return r.EarlyPrecision * float64(r.Pairs) / float64(r.Positives)
}

// Groups yields the tied groups from the highest score to the lowest: the number
// of positive and of negative pairs in each. Figures that are no field of Ranking
// are made of them.
func (r Ranking) Groups() iter.Seq2[int, int] {
	return func(yield func(positives, negatives int) bool) {
		p, n := len(r.pos), len(r.neg)
		for p > 0 || n > 0 {
			top := math.Inf(-1)
			if p > 0 {
				top = r.pos[p-1]
			}
			if n > 0 {
				top = math.Max(top, r.neg[n-1])
			}
			p0, n0 := p, n
			for p > 0 && r.pos[p-1] == top {
				p--
			}
			for n > 0 && r.neg[n-1] == top {
				n--
			}
			if !yield(p0-p, n0-n) {
				return
			}
		}
	}
}

// Rank measures scores, higher is better, against positive, both of one entry a
// pair. Scores may be infinite. An error is returned for a NaN score, and where there
// is no positive or no negative pair, since no figure is defined then.
func Rank(scores []float64, positive []bool) (Ranking, error) {
	if len(scores) != len(positive) {
		return Ranking{}, fmt.Errorf("%d scores for %d labels; give one score a pair", len(scores), len(positive))
	}
	npos := 0
	for _, p := range positive {
		if p {
			npos++
		}
	}
	if npos == 0 || npos == len(positive) {
		return Ranking{}, fmt.Errorf("%d of %d pairs are positive; a ranking needs positives and negatives", npos, len(positive))
	}
	pos := make([]float64, 0, npos)
	neg := make([]float64, 0, len(scores)-npos)
	for i, s := range scores {
		switch {
		case math.IsNaN(s):
			return Ranking{}, fmt.Errorf("the score of pair %d is NaN; every pair needs a score", i)
		case positive[i]:
			pos = append(pos, s)
		default:
			neg = append(neg, s)
		}
	}
	slices.Sort(pos)
	slices.Sort(neg)
	r := Ranking{pos: pos, neg: neg}
	t := tally{top: npos}
	for k, m := range r.Groups() {
		t.add(k, m)
	}
	t.into(&r)
	return r, nil
}

// tally sums the contributions of tied groups, best first.
type tally struct {
	pos, neg int
	// top is the number of pairs that EarlyPrecision looks at, early the positives
	// expected among them.
	top   int
	early float64
	// wins is twice the number of pairs (positive, negative) in right order.
	// It is exact up to 2⁶³, three thousand million pairs of a population.
	wins                  int64
	area, expected, whole float64
}

// add takes a tied group of k positives and m negatives.
func (t *tally) add(k, m int) {
	if k > 0 {
		above := t.pos + t.neg
		n := k + m
		// Negatives above are counted here and subtracted from all at the end.
		t.wins -= int64(k) * int64(2*t.neg+m)
		if above < t.top {
			t.early += float64(k) * min(1, float64(t.top-above)/float64(n))
		}
		if n == 1 {
			after := float64(t.pos+1) / float64(above+1)
			before := after
			if above > 0 {
				before = float64(t.pos) / float64(above)
			}
			t.area += (before + after) / 2
			t.expected += after
			t.whole += after
		} else {
			t.addTied(float64(k), float64(n), above)
		}
	}
	t.pos += k
	t.neg += m
}

// addTied is the part of add for k positives among n > 1 tied pairs.
func (t *tally) addTied(k, n float64, above int) {
	// Both sums over the group are of the form Σ (a·r + b)/(N + r), which is
	// a·n + (b − a·N)·h with h = Σ 1/(N + r).
	h := 0.0
	for r := int(n); r > 0; r-- { // small terms first
		h += 1 / float64(above+r)
	}
	N, P := float64(above), float64(t.pos)

	q := k / n
	c := P - q*N // p(r) = q + c/(N+r)
	if above == 0 {
		t.area += q * k
	} else {
		t.area += q * (k + c*(h+(1/N-1/(N+n))/2))
	}

	m := (k - 1) / (n - 1)
	t.expected += q * (m*n + (P+1-m*(N+1))*h)
	t.whole += k * (P + k) / (N + n)
}

// into sets the fields of r.
func (t *tally) into(r *Ranking) {
	pos := float64(t.pos)
	both := int64(t.pos) * int64(t.neg)
	r.Pairs, r.Positives = t.pos+t.neg, t.pos
	r.AUROC = float64(2*both+t.wins) / float64(2*both)
	r.AUPR = t.area / pos
	r.AveragePrecision = t.expected / pos
	r.StepAveragePrecision = t.whole / pos
	r.EarlyPrecision = t.early / float64(t.top)
}
