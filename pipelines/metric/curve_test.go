package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/pipelines/metric"
)

// The areas under the curves that are drawn are those that are printed.
func TestCurvesHaveTheAreas(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		pairs, positives int
		values           int // scores are so many; 0: all differ
	}{{20, 4, 0}, {500, 50, 0}, {20000, 300, 0}, {20000, 300, 40}, {5000, 2500, 3}, {100, 1, 0}, {10, 9, 1}} {
		scores, positive := make([]float64, c.pairs), make([]bool, c.pairs)
		for i := range scores {
			positive[i] = i < c.positives
			scores[i] = rng.Float64()
			if positive[i] {
				scores[i] += 0.3
			}
			if c.values > 0 {
				scores[i] = math.Floor(scores[i] * float64(c.values))
			}
		}
		r, err := metric.Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		curves := r.Curves()
		if got := area(curves.FPR, curves.TPR); math.Abs(got-r.AUROC) > 2e-3 {
			t.Errorf("%+v: area %v under the ROC curve, AUROC %v", c, got, r.AUROC)
		}
		// The curve starts level at its first point.
		got := curves.Recall[0]*curves.Precision[0] + area(curves.Recall, curves.Precision)
		if math.Abs(got-r.AUPR) > 1e-2 {
			t.Errorf("%+v: area %v under the precision-recall curve, AUPR %v", c, got, r.AUPR)
		}
		n, m := len(curves.FPR), len(curves.Recall)
		if curves.FPR[0] != 0 || curves.TPR[0] != 0 || curves.FPR[n-1] != 1 || curves.TPR[n-1] != 1 || curves.Recall[m-1] != 1 {
			t.Errorf("%+v: the curves end at %v, %v and %v", c, curves.FPR[n-1], curves.TPR[n-1], curves.Recall[m-1])
		}
		if n > 3000 || m > 3000 {
			t.Errorf("%+v: %d and %d points", c, n, m)
		}
		for i := 1; i < m; i++ {
			if curves.Recall[i] < curves.Recall[i-1] {
				t.Fatalf("%+v: recall falls at point %d", c, i)
			}
		}
	}
}

func area(x, y []float64) float64 {
	sum := 0.0
	for i := 1; i < len(x); i++ {
		sum += (x[i] - x[i-1]) * (y[i] + y[i-1]) / 2
	}
	return sum
}
