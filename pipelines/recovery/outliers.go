package recovery

import (
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/solver/covariance"
)

// warnOfOutliers warns where ranks lose what a few samples carry.
func (r *run) warnOfOutliers() {
	ranked := r.job.Correlation == covariance.Spearman.String() || r.job.Correlation == covariance.Nonparanormal.String() ||
		r.job.Correlation == covariance.NormalScores.String()
	if !ranked {
		ranked = anySolver(r.job.Solvers, func(s solverEntry) bool { return s.ranks != nil && s.ranks(r.job) })
	}
	if !ranked || r.samples == nil {
		return
	}
	d := len(r.table.Names)
	if k := medianKurtosis(r.samples, d); carriedByFew(k, len(r.samples)/d) {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(
			"a few samples far out make up most of the variance (median kurtosis %.0f), and ranks lose what they say; compare with the correlation pearson, which keeps it", k))
	}
}

// carriedByFew says whether a median kurtosis means that a handful of n samples carries
// the variance: that of a variable is n/k where k samples of one size have all of it.
// Below 30 it is not unusual for a skewed variable.
func carriedByFew(kurtosis float64, n int) bool { return kurtosis > max(30, float64(n)/4) }

// medianKurtosis is the median over d variables of m4/m2²; rows are the samples, and
// every variable varies.
func medianKurtosis(rows []float64, d int) float64 {
	n := float64(len(rows) / d)
	mean, second, fourth := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, v := range rows {
		mean[i%d] += v / n
	}
	for i, v := range rows {
		second[i%d] += (v - mean[i%d]) * (v - mean[i%d]) / n
	}
	for i, v := range rows {
		z := (v - mean[i%d]) * (v - mean[i%d]) / second[i%d] // not squared first: it may overflow
		fourth[i%d] += z * z / n
	}
	slices.Sort(fourth)
	return fourth[d/2]
}
