package training

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// Figures are what a model does on the validation examples, its threshold
// applied.
type Figures struct {
	// Examples and Graphs count the covariances and their networks.
	Examples int `json:"examples"`
	Graphs   int `json:"graphs"`
	// Metrics are those of Metrics that are reported. In JSON their keys stand
	// beside the others.
	Metrics job.Metrics `json:"-"`
}

// MarshalJSON writes one object, the metrics last.
func (f Figures) MarshalJSON() ([]byte, error) {
	type plain Figures
	return f.Metrics.MarshalBeside(plain(f))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (f *Figures) UnmarshalJSON(data []byte) error {
	type plain Figures
	var keys []string
	for _, m := range Metrics() {
		keys = append(keys, m.Key)
	}
	return f.Metrics.UnmarshalBeside(data, (*plain)(f), keys)
}

// success is the strict probability of success.
func success(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
	var sum float64
	for i, e := range estimates {
		ok, err := metric.SuccessStrict(e.Support, validation[i].Truth)
		if err != nil {
			return 0, err
		}
		if ok {
			sum++
		}
	}
	return sum / float64(len(estimates)), nil
}

// successThreshold is the threshold of a posterior-mean model, in units of
// glad.Model.Threshold, with the highest strict probability of success.
func successThreshold(estimates []*solver.Estimate, validation []solver.Example) (tune.ThresholdResult, error) {
	scaled := make([]*dense.Sym, len(estimates))
	for k, e := range estimates {
		scaled[k] = e.Support.Clone()
		for i := range e.Support.Len() {
			for j := range i + 1 {
				scaled[k].Set(i, j, e.Support.At(i, j)/math.Sqrt(e.Precision.At(i, i)*e.Precision.At(j, j)))
			}
		}
	}
	return tune.Threshold(scaled, validation)
}

// auroc is the mean over the examples that have edges and other pairs; NaN if
// none has.
func auroc(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
	return meanRanking(estimates, validation, func(r metric.Ranking) float64 { return r.AUROC })
}

// aupr is beside auroc: the area under the precision-recall curve of unordered pairs.
func aupr(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
	return meanRanking(estimates, validation, func(r metric.Ranking) float64 { return r.AUPR })
}

// meanRanking is the mean of a figure of how Θ ranks the pairs of each example.
func meanRanking(estimates []*solver.Estimate, validation []solver.Example, figure func(metric.Ranking) float64) (float64, error) {
	var sum float64
	n := 0
	for k, e := range estimates {
		truth := validation[k].Truth
		if !ranked(truth) {
			continue
		}
		var scores []float64
		var positive []bool
		for i := range truth.Len() {
			for j := i + 1; j < truth.Len(); j++ {
				score := e.Score(i, j)
				if math.IsNaN(score) {
					return math.NaN(), nil
				}
				scores, positive = append(scores, score), append(positive, truth.At(i, j) != 0)
			}
		}
		r, err := metric.Rank(scores, positive)
		if err != nil {
			return 0, err
		}
		sum += figure(r)
		n++
	}
	return sum / float64(n), nil
}

// ranked says whether truth has edges and other pairs.
func ranked(truth *dense.Sym) bool {
	edges, others := false, false
	for i := range truth.Len() {
		for _, v := range truth.Row(i)[i+1:] {
			edges, others = edges || v != 0, others || v == 0
		}
	}
	return edges && others
}

// evaluate runs m on the validation examples.
func evaluate(ctx context.Context, m *glad.Model, validation []solver.Example, backend glad.Backend) ([]*solver.Estimate, Figures, error) {
	problems := make([]solver.Problem, len(validation))
	for i, e := range validation {
		problems[i] = e.Problem()
	}
	estimates, err := glad.Solver{Model: m, Backend: backend}.SolveAll(ctx, problems)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, Figures{}, err
	}
	f := Figures{Examples: len(validation), Graphs: networks(validation)}
	for _, metric := range Metrics() {
		if !metric.Reported {
			continue
		}
		value, err := metric.value(estimates, validation)
		if err != nil {
			return nil, f, err
		}
		f.Metrics = append(f.Metrics, job.Metric{Key: metric.Key, Value: job.Float(value)})
	}
	return estimates, f, nil
}

// networks counts the networks of the examples: covariances of one share its
// truth.
func networks(validation []solver.Example) int {
	seen := make(map[*dense.Sym]struct{})
	for _, e := range validation {
		seen[e.Truth] = struct{}{}
	}
	return len(seen)
}

// nmseOf is the NMSE with its standard error by the delta method, as metric.NMSE
// has them, but over networks: the covariances of one network, which share its
// truth, are no independent examples.
func nmseOf(estimates []*solver.Estimate, validation []solver.Example) (value, standardError float64) {
	place := make(map[*dense.Sym]int)
	var errs, norms []float64
	for k, e := range estimates {
		truth := validation[k].Truth
		at, ok := place[truth]
		if !ok {
			at = len(errs)
			place[truth] = at
			errs, norms = append(errs, 0), append(norms, 0)
		}
		z := e.Support.Raw()
		for i, v := range truth.Raw() {
			errs[at] += (z[i] - v) * (z[i] - v)
			norms[at] += v * v
		}
	}
	e, _ := metric.MeanAndError(errs)
	t, _ := metric.MeanAndError(norms)
	influence := make([]float64, len(errs))
	for i := range influence {
		influence[i] = errs[i]/e - norms[i]/t
	}
	_, spread := metric.MeanAndError(influence)
	return 10 * math.Log10(e/t), spread * 10 / math.Ln10
}
