// Package metric says how good a recovered network is: AUROC and areas under
// the precision-recall curve of a ranking, the false discovery, true positive
// and false positive rate of a support, the normalised mean square error and
// the probability of success of precision matrices, and standard errors.
//
// It computes on plain slices and symmetric matrices. It does not read files,
// draw curves, or choose thresholds.
//
// Figures of a ranking depend on which pairs are scored, so a Population is
// made first and printed with them:
//
//	ref := metric.Reference{Source: source, Target: target, Label: label}
//	pop, err := ref.Population(names, metric.Labelled, false)
//	if err != nil {
//		return err
//	}
//	r, err := pop.Score(estimate.Score)
//	if err != nil {
//		return err
//	}
//	fmt.Printf("%s: AUROC %.4f, AUPR %.4f\n", pop, r.AUROC, r.AUPR)
package metric
