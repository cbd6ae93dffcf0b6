package recovery

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/covariance"
)

// warnOfTails warns where ranks lose what a few samples carry, and where values that are
// far out hide what ranks would find.
func (r *run) warnOfTails(data *table.Data) {
	if data.Kurtosis == nil || r.job.Correlation == job.CorrelationAuto {
		return
	}
	d, few := len(data.Names), data.CarriedByFew
	ranked := data.Correlation == covariance.Spearman.String() || data.Correlation == covariance.Nonparanormal.String() ||
		data.Correlation == covariance.NormalScores.String()
	ranks := anySolver(r.job.Solvers, func(s solverEntry) bool { return s.ranks != nil && s.ranks(r.job) })
	takesS := anySolver(r.job.Solvers, func(s solverEntry) bool { return s.ranks == nil })
	switch heavy := data.HeavyTails(); {
	case (ranked || ranks) && few:
		r.warn("a few samples far out make up most of the variance (median kurtosis %.0f), and ranks lose what they say; compare with the correlation pearson, which keeps it", data.MedianKurtosis())
	case takesS && !ranked && !few && float64(heavy) >= table.HeavyShare*float64(d):
		r.warn("%d of %d variables have heavy tails or outliers (a kurtosis above %d, where a Gaussian has 3), and ranks may find more; compare with the correlation normal-scores, or auto, which decides", heavy, d, table.Heavy)
	}
}

func (r *run) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}
