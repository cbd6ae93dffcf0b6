package covariance

import (
	"math"
	"slices"
)

// ShrunkDeviations returns standard deviations, d of them, pulled towards each other as far
// as their differences are no more than chance explains: the logarithm of the variance s² of
// each variable moves to the mean of all, keeping the weight
//
//	max(0, 1 − (2/M)/v)
//
// of its difference from it, where v is the variance of the d logarithms (divisor d−1) and
// 2/M that which the logarithm of a variance has from M Gaussian samples alone. It is the
// empirical Bayes estimate under log-normal variances (Efron and Morris, "Data Analysis Using
// Stein's Estimator and its Generalizations", JASA 70 (1975)).
//
// A precision matrix of standardised variables goes to the units of the table by dividing by
// two deviations, so that their errors become its own: with these it gains where variables
// have nearly one variance, and loses nothing where they do not.
//
// A single variable, or samples below 1 (M unknown), change nothing. Deviations must be
// positive and finite. The argument is not modified.
func ShrunkDeviations(deviations []float64, samples int) []float64 {
	shrunk := slices.Clone(deviations)
	d := float64(len(deviations))
	if d < 2 || samples < 1 {
		return shrunk
	}
	var mean, spread float64
	for i, s := range deviations {
		shrunk[i] = 2 * math.Log(s)
		mean += shrunk[i] / d
	}
	for _, l := range shrunk {
		spread += (l - mean) * (l - mean) / (d - 1)
	}
	if spread == 0 { // they are one number already
		return slices.Clone(deviations)
	}
	weight := max(0, 1-2/float64(samples)/spread)
	for i, l := range shrunk {
		shrunk[i] = math.Exp((mean + weight*(l-mean)) / 2)
	}
	return shrunk
}
