package metric

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Confusion counts selected and unselected pairs against the truth.
type Confusion struct {
	TruePositives, FalsePositives, TrueNegatives, FalseNegatives int
}

func (c *Confusion) count(selected, positive bool) {
	switch {
	case selected && positive:
		c.TruePositives++
	case selected:
		c.FalsePositives++
	case positive:
		c.FalseNegatives++
	default:
		c.TrueNegatives++
	}
}

// Support compares the non-zeros of estimate with those of truth, both d×d, over
// the pairs i < j. Pass an estimate with exact zeros (solver.Estimate.Support).
func Support(estimate, truth *dense.Sym) (Confusion, error) {
	var c Confusion
	if err := sameSize(estimate, truth); err != nil {
		return c, err
	}
	for i := range truth.Len() {
		t := truth.Row(i)[i+1:]
		for j, v := range estimate.Row(i)[i+1:] {
			if math.IsNaN(v) || math.IsNaN(t[j]) {
				return Confusion{}, fmt.Errorf("entry (%d,%d) is NaN; the support of it is undefined", i, i+1+j)
			}
			c.count(v != 0, t[j] != 0)
		}
	}
	return c, nil
}

// Support compares the pairs that selected picks with the truth of p; i and j
// are positions in the table.
func (p *Population) Support(selected func(i, j int) bool) Confusion {
	var c Confusion
	for k, q := range p.Pairs {
		c.count(selected(int(q.I), int(q.J)), p.Positive[k])
	}
	return c
}

// FDR is the false discovery rate FP/(TP + FP): the share of the selected pairs
// that are wrong. It is 0 where nothing is selected.
func (c Confusion) FDR() float64 {
	if c.FalsePositives == 0 {
		return 0
	}
	return float64(c.FalsePositives) / float64(c.TruePositives+c.FalsePositives)
}

// TPR is the true positive rate TP/(TP + FN), also called recall or
// sensitivity. It is NaN where no pair is positive.
func (c Confusion) TPR() float64 {
	return float64(c.TruePositives) / float64(c.TruePositives+c.FalseNegatives)
}

// Precision is TP/(TP + FP): the share of the selected pairs that are right. It is NaN where
// nothing is selected.
func (c Confusion) Precision() float64 {
	return float64(c.TruePositives) / float64(c.TruePositives+c.FalsePositives)
}

// F1 is the harmonic mean of precision and recall, 2TP/(2TP + FP + FN).
func (c Confusion) F1() float64 {
	return 2 * float64(c.TruePositives) / float64(2*c.TruePositives+c.FalsePositives+c.FalseNegatives)
}

// FPR is the false positive rate FP/(FP + TN). It is NaN where no pair is
// negative.
func (c Confusion) FPR() float64 {
	return float64(c.FalsePositives) / float64(c.FalsePositives+c.TrueNegatives)
}

// SuccessStrict reports whether estimate has the sign of truth (−, 0 or +) in
// every entry, the diagonal included. The mean over graphs is the strict
// probability of success.
func SuccessStrict(estimate, truth *dense.Sym) (bool, error) {
	return signsAgree(estimate, truth, false)
}

// SuccessEdgeOnly reports whether estimate has the sign of truth wherever truth is
// not zero off the diagonal. Its mean over graphs is the probability of success as
// the paper's formula has it (Shrivastava et al., ICLR 2020, section 5), which
// wrong edges do not lower.
func SuccessEdgeOnly(estimate, truth *dense.Sym) (bool, error) {
	return signsAgree(estimate, truth, true)
}

func signsAgree(estimate, truth *dense.Sym, edgeOnly bool) (bool, error) {
	if err := sameSize(estimate, truth); err != nil {
		return false, err
	}
	for i := range truth.Len() {
		t := truth.Row(i)
		for j, v := range estimate.Row(i) {
			if edgeOnly && (i == j || t[j] == 0) {
				continue
			}
			// A NaN has no sign and agrees with nothing.
			if !(v > 0 && t[j] > 0 || v < 0 && t[j] < 0 || v == 0 && t[j] == 0) {
				return false, nil
			}
		}
	}
	return true, nil
}

func sameSize(estimate, truth *dense.Sym) error {
	if estimate.Len() != truth.Len() {
		return fmt.Errorf("an estimate of %d variables cannot be compared with a truth of %d", estimate.Len(), truth.Len())
	}
	return nil
}
