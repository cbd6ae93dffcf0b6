package training

import (
	"math"

	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// A Metric is a figure of a model on the validation examples, for those who
// compute, print, write or select by several: adding one to Metrics is all it
// takes.
type Metric struct {
	// Key is its name in files, Title that in tables, Name that in sentences.
	Key, Title, Name string
	// Unit is that of the value; empty for a share or an area.
	Unit string
	// Format prints the value, and Short the value with a hint to its meaning
	// where there is little room.
	Format, Short string
	// Select is the word of job.Training.Select; empty if nothing is selected
	// by it.
	Select string
	// Reported says that it stands in the result and in the card of a model.
	Reported bool

	value func([]*solver.Estimate, []solver.Example) (float64, error)
	// figure is what checkpoints of a model of a kind are selected by.
	figure func(glad.Kind) train.Criterion
}

// Words of job.Training.Select that mean more than a figure.
const (
	selectPS   = "ps"
	selectAUC  = "auc"
	selectAUPR = "aupr"
	selectNMSE = "nmse"
)

// Metrics lists the figures in the order of files and tables.
func Metrics() []Metric {
	return []Metric{
		{
			Key: "nmse_db", Title: "NMSE of Z (dB)", Name: "NMSE", Unit: "dB", Format: "%.3f", Short: "%.2f dB", Select: selectNMSE, Reported: true,
			value: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
				nmse, _ := nmseOf(estimates, validation)
				return nmse, nil
			},
			figure: func(glad.Kind) train.Criterion { return train.NMSE() },
		},
		{
			Key: "nmse_db_standard_error", Title: "standard error", Name: "standard error of the NMSE", Unit: "dB", Format: "%.3f", Reported: true,
			value: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
				_, spread := nmseOf(estimates, validation)
				return spread, nil
			},
		},
		{
			Key: "mean_nmse_db", Title: "mean NMSE of Z (dB)", Name: "mean NMSE", Unit: "dB", Format: "%.3f", Short: "%.2f dB", Select: "mean-nmse",
			figure: func(glad.Kind) train.Criterion { return train.MeanNMSE() },
		},
		{
			Key: "floored_nmse_db", Title: "mean of NMSE of Z + max(4/M, 0.001) (dB)", Name: "floored NMSE", Unit: "dB", Format: "%.3f", Short: "%.2f dB", Select: "floored-nmse",
			figure: func(glad.Kind) train.Criterion { return train.FlooredNMSE() },
		},
		{
			Key: "strict_ps", Title: "strict PS", Name: "strict PS", Format: "%.3f", Short: "PS %.2f", Select: selectPS, Reported: true,
			value: success, figure: successFigure,
		},
		{
			Key: "auroc", Title: "AUROC", Name: "AUROC", Format: "%.4f", Short: "AUC %.3f", Select: selectAUC, Reported: true,
			value:  auroc,
			figure: func(glad.Kind) train.Criterion { return higher("auroc", auroc) },
		},
		{
			Key: "aupr", Title: "AUPR", Name: "AUPR", Format: "%.4f", Short: "AUPR %.3f", Select: selectAUPR, Reported: true,
			value:  aupr,
			figure: func(glad.Kind) train.Criterion { return higher("aupr", aupr) },
		},
		{ // of a model for genes only
			Key: averagePrecisionKey, Title: "average precision", Name: "average precision", Format: "%.4f", Short: "AP %.3f",
		},
	}
}

// MetricOf returns the figure with a key, and whether there is one.
func MetricOf(key string) (Metric, bool) {
	return metricBy(func(m Metric) bool { return m.Key == key })
}

func metricBy(is func(Metric) bool) (Metric, bool) {
	for _, m := range Metrics() {
		if is(m) {
			return m, true
		}
	}
	return Metric{}, false
}

// selected is the figure that checkpoints are selected by. by is valid.
func selected(by string, kind glad.Kind) train.Criterion {
	m, _ := metricBy(func(m Metric) bool { return m.Select == by })
	return m.figure(kind)
}

// higher is a figure that is better the larger it is.
func higher(name string, compute func([]*solver.Estimate, []solver.Example) (float64, error)) train.Criterion {
	return train.Criterion{Name: name, HigherIsBetter: true, Compute: compute}
}

// decibelTie says how finely the NMSE breaks ties of the strict probability of
// success: a decibel counts less than one graph in ten thousand.
const decibelTie = 1e-6

// successFigure is the strict probability of success with, for a posterior-mean
// model, the single threshold that suits the validation examples best. Ties, of
// which there are many as long as nothing succeeds, go to the lower NMSE.
func successFigure(kind glad.Kind) train.Criterion {
	return train.Criterion{Name: "strict_ps", HigherIsBetter: true, Compute: func(estimates []*solver.Estimate, validation []solver.Example) (float64, error) {
		for _, e := range estimates {
			if !e.Support.Finite() {
				return math.NaN(), nil
			}
		}
		ps, err := success(estimates, validation)
		if kind == glad.GLADPM {
			var best tune.ThresholdResult
			best, err = successThreshold(estimates, validation)
			ps = best.Success
		}
		if err != nil {
			return 0, err
		}
		nmse, err := train.NMSE().Compute(estimates, validation)
		return ps - decibelTie*nmse, err
	}}
}
