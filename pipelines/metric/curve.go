package metric

import "math"

// Curves are the two curves of a Ranking, as points to draw. AUROC and AUPR are the
// areas under the curves through all ranks; here are the ends of both and as many
// points between as an eye can tell apart, some thousands at most.
type Curves struct {
	// FPR and TPR are the ROC curve: the false and the true positive rate, from
	// (0, 0) to (1, 1).
	FPR, TPR []float64
	// Recall and Precision are the precision-recall curve, from the first rank to
	// recall 1. Inside a tied group positives come at the expected random rate, as in
	// Ranking.AUPR.
	Recall, Precision []float64
}

// Curves returns the curves of r.
func (r Ranking) Curves() Curves {
	var c Curves
	all, none := float64(r.Positives), float64(r.Pairs-r.Positives)
	c.FPR, c.TPR = []float64{0}, []float64{0}
	var above, positives int // before the group
	for k, m := range r.Groups() {
		n := k + m
		for step := 1; ; {
			p := float64(positives) + float64(step)*float64(k)/float64(n)
			c.addRecall(p/all, p/float64(above+step), step == n && positives+k == r.Positives && k > 0)
			if step == n {
				break
			}
			step = min(n, max(step+1, int(1.05*float64(step))))
		}
		above, positives = above+n, positives+k
		c.addROC(float64(above-positives)/none, float64(positives)/all, above == r.Pairs)
	}
	return c
}

// addROC adds a point that is away from the one before, and the last one.
func (c *Curves) addROC(fpr, tpr float64, last bool) {
	const apart = 1.0 / 1000
	k := len(c.FPR) - 1
	if last || fpr-c.FPR[k] >= apart || tpr-c.TPR[k] >= apart {
		c.FPR, c.TPR = append(c.FPR, fpr), append(c.TPR, tpr)
	}
}

// addRecall adds a point that is away from the one before on a linear axis of recall
// or, as long as recall is low, on a logarithmic one, and the last one.
func (c *Curves) addRecall(recall, precision float64, last bool) {
	const apart, ratio = 1.0 / 500, 1.02
	if k := len(c.Recall) - 1; k >= 0 && !last && recall-c.Recall[k] < apart &&
		recall < ratio*c.Recall[k] && math.Abs(precision-c.Precision[k]) < apart {
		return
	}
	c.Recall, c.Precision = append(c.Recall, recall), append(c.Precision, precision)
}
