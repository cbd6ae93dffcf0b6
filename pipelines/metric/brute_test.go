package metric

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The definitions below are written for being right, not for speed.

// bruteAUROC compares every positive with every negative.
func bruteAUROC(scores []float64, positive []bool) float64 {
	var wins, all float64
	for i, p := range positive {
		for j, q := range positive {
			if !p || q {
				continue
			}
			all++
			switch {
			case scores[i] > scores[j]:
				wins++
			case scores[i] == scores[j]:
				wins += 0.5
			}
		}
	}
	return wins / all
}

// brutePrecision returns the precision of an order of labels at its positives,
// averaged.
func brutePrecision(order []bool) float64 {
	var sum, hits float64
	for r, p := range order {
		if p {
			hits++
			sum += hits / float64(r+1)
		}
	}
	return sum / hits
}

// orders calls f with every order of the labels in which no lower score comes
// before a higher one.
func orders(scores []float64, positive []bool, f func([]bool)) {
	n := len(scores)
	used := make([]bool, n)
	order := make([]bool, 0, n)
	var descend func()
	descend = func() {
		if len(order) == n {
			f(order)
			return
		}
		top := math.Inf(-1)
		for i, s := range scores {
			if !used[i] {
				top = math.Max(top, s)
			}
		}
		for i, s := range scores {
			if !used[i] && s == top {
				used[i] = true
				order = append(order, positive[i])
				descend()
				order = order[:len(order)-1]
				used[i] = false
			}
		}
	}
	descend()
}

// bruteStep is the average precision with one threshold a distinct score.
func bruteStep(scores []float64, positive []bool) float64 {
	thresholds := slices.Clone(scores)
	slices.Sort(thresholds)
	thresholds = slices.Compact(thresholds)
	slices.Reverse(thresholds)
	var area, recall float64
	all := 0.0
	for _, p := range positive {
		if p {
			all++
		}
	}
	for _, t := range thresholds {
		var hits, taken float64
		for i, s := range scores {
			if s >= t {
				taken++
				if positive[i] {
					hits++
				}
			}
		}
		area += (hits/all - recall) * hits / taken
		recall = hits / all
	}
	return area
}

// bruteTrapezoid integrates precision over recall along all ranks, where the
// hits after r of a tied group's n pairs are r·k/n.
func bruteTrapezoid(scores []float64, positive []bool) float64 {
	index := make([]int, len(scores))
	all := 0.0
	for i := range index {
		index[i] = i
		if positive[i] {
			all++
		}
	}
	slices.SortFunc(index, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	hits := []float64{0}
	for a := 0; a < len(index); {
		b, k := a, 0.0
		for ; b < len(index) && scores[index[b]] == scores[index[a]]; b++ {
			if positive[index[b]] {
				k++
			}
		}
		start := hits[len(hits)-1]
		for r := 1; r <= b-a; r++ {
			hits = append(hits, start+float64(r)*k/float64(b-a))
		}
		a = b
	}
	var area float64
	for r := 1; r < len(hits); r++ {
		p := hits[r] / float64(r)
		before := p
		if r > 1 {
			before = hits[r-1] / float64(r-1)
		}
		area += (hits[r] - hits[r-1]) / all * (p + before) / 2
	}
	return area
}

// ranked is a drawn ranking with both labels and many ties.
func ranked(t *rapid.T, longest int) ([]float64, []bool) {
	n := rapid.IntRange(2, longest).Draw(t, "n")
	levels := rapid.IntRange(1, n).Draw(t, "levels")
	scores := make([]float64, n)
	positive := make([]bool, n)
	for i := range n {
		scores[i] = float64(rapid.IntRange(-levels, levels).Draw(t, "score")) / 4
		positive[i] = rapid.Bool().Draw(t, "positive")
	}
	positive[0], positive[1] = true, false
	return scores, positive
}

// Sums of at most 60 terms below one lose less than 1e-13.
const rounding = 1e-13

func TestRankAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, positive := ranked(t, 60)
		r, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"AUROC", r.AUROC, bruteAUROC(scores, positive)},
			{"AUPR", r.AUPR, bruteTrapezoid(scores, positive)},
			{"StepAveragePrecision", r.StepAveragePrecision, bruteStep(scores, positive)},
		} {
			if !(math.Abs(c.got-c.want) <= rounding) {
				t.Errorf("%s = %v, want %v by definition", c.name, c.got, c.want)
			}
		}
	})
}

// bruteEarly is the share of positives among the best, as many as there are
// positives.
func bruteEarly(order []bool) float64 {
	var positives, early float64
	for _, p := range order {
		if p {
			positives++
		}
	}
	for _, p := range order[:int(positives)] {
		if p {
			early++
		}
	}
	return early / positives
}

// Of at most seven pairs every order inside the ties can be visited.
func TestPrecisionsAreExpectations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, positive := ranked(t, 7)
		var sum, early, n float64
		orders(scores, positive, func(order []bool) {
			sum += brutePrecision(order)
			early += bruteEarly(order)
			n++
		})
		r, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		if want := sum / n; !(math.Abs(r.AveragePrecision-want) <= 1e-11) { // sums of up to 5040 orders
			t.Errorf("AveragePrecision = %v, want %v, the mean over %v orders", r.AveragePrecision, want, n)
		}
		if want := early / n; !(math.Abs(r.EarlyPrecision-want) <= 1e-11) {
			t.Errorf("EarlyPrecision = %v, want %v, the mean over %v orders", r.EarlyPrecision, want, n)
		}
	})
}

func TestRankIgnoresMonotoneTransforms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, positive := ranked(t, 60)
		want, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		moved := make([]float64, len(scores))
		for i, s := range scores {
			moved[i] = math.Exp(s/8) - 5 // injective on multiples of 1/4 up to 15
		}
		got, err := Rank(moved, positive)
		if err != nil {
			t.Fatal(err)
		}
		if !sameFigures(got, want) {
			t.Errorf("after exp: %+v, before: %+v", got, want)
		}
	})
}

func TestRankReversed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores, positive := ranked(t, 60)
		r, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		for i := range scores {
			scores[i] = -scores[i]
		}
		back, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.AUROC+back.AUROC-1) > rounding {
			t.Errorf("AUROC %v and %v reversed do not add to 1", r.AUROC, back.AUROC)
		}
	})
}
