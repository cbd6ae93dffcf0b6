package job

import (
	"slices"
	"strings"
)

// A Method is how the tables of a document that compares solvers are solved: fields of
// Job, with the same meaning. The zero value of every field is its default.
type Method struct {
	Correlation        string  `json:"correlation,omitzero" jsonschema:"enum=pearson,enum=spearman,enum=nonparanormal,enum=normal-scores,enum=none" jsonschema_description:"what to estimate from the samples; none is the covariance; without it what GLAD's model was trained on, which is pearson for the default one and where GLAD does not run"`
	Model              string  `json:"model,omitzero" file:"read-model" jsonschema_description:"GLAD's model: the name of a built-in one, or a model file; with regulators gene-regulators without it"`
	RankingCorrelation string  `json:"ranking_correlation,omitzero" jsonschema:"enum=normal-scores,enum=pearson,enum=spearman,default=normal-scores" jsonschema_description:"correlation that spectral ranks by; pearson where a few samples far out carry the signal"`
	RankingModel       string  `json:"ranking_model,omitzero" file:"read-model" jsonschema_description:"model of expression: the name of a built-in one, or a model file; with regulators gene-directed without it"`
	Penalty            Value   `json:"penalty,omitzero" jsonschema:"pattern=^edges:[1-9][0-9]*$" jsonschema_description:"penalty of the classical solvers: a number, edges:N for the one that leaves N edges, or {words} to choose it from the data"`
	Gap                float64 `json:"gap,omitzero" jsonschema:"minimum=0,default=0.001" jsonschema_description:"duality gap to stop at, relative to the objective"`
	Engine             string  `json:"engine,omitzero" jsonschema:"enum=auto,enum=openblas,enum=gonum,default=auto" jsonschema_description:"linear algebra; auto is openblas where this machine has it"`
	Threads            int     `json:"threads,omitzero" jsonschema:"minimum=0" jsonschema_description:"threads to compute on at the same time; 0 is one for each processor that the process may use"`
}

// job is that of the solvers of a table, without its input and its regulators.
func (m Method) job(limit Duration) Job {
	return Job{
		Correlation: m.Correlation, Model: m.Model, RankingCorrelation: m.RankingCorrelation, RankingModel: m.RankingModel,
		Penalty: m.Penalty, Gap: m.Gap, TimeLimit: limit,
		Engine: m.Engine, Threads: m.Threads, Device: DeviceCPU,
	}
}

// A Bootstrap says where the standard errors of a document that compares solvers come
// from. The zero value of every field is its default.
type Bootstrap struct {
	// Resamples is the number of samples of the sources of a network, or none; Seed
	// that of their random numbers.
	Resamples Value `json:"resamples,omitzero" words:"none" jsonschema:"default=200" jsonschema_description:"bootstrap samples of the sources of edges for standard errors, 2 or more, or {words}"`
	Seed      int   `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the bootstrap samples"`
}

const (
	resamplesNone = "none"
	mostResamples = 100_000
)

// Count is the number that Resamples says, 0 for none.
func (b Bootstrap) Count() int {
	if b.Resamples == resamplesNone {
		return 0
	}
	x, _ := b.Resamples.Number()
	return int(x)
}

// check reports the first field that is wrong.
func (b Bootstrap) check() error {
	x, isNumber := b.Resamples.Number()
	n := int(x)
	switch {
	case b.Resamples != "" && b.Resamples != resamplesNone && !(isNumber && float64(n) == x && n >= 2 && n <= mostResamples):
		return Errorf("resamples", "%q is neither a number of samples from 2 to %d nor none", string(b.Resamples), mostResamples)
	case b.Seed < 0:
		return Errorf("seed", "%d is negative; give a whole number from 0", b.Seed)
	}
	return nil
}

// CheckComparison reports the first field that is wrong among those that a Benchmark
// and a Dream5 share, of solving, the job for their solvers, and with its solvers.
func CheckComparison(solving Job, solvers []string, b Bootstrap, report string, known Facts) error {
	if err := CheckReport(report); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	solving.Input, solving.Solvers = Stdin, solvers
	return solving.ValidateBy(known)
}

// CheckNames reports a word of a list, of any document, that is unknown or stands
// twice. A noun says what the words are.
func CheckNames(key, noun string, names, known []string) error {
	for i, name := range names {
		if known != nil && !slices.Contains(known, name) {
			return Errorf(key, "%q is unknown; choose from %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], name) {
			return Errorf(key, "%s is named twice; name every %s once", name, noun)
		}
	}
	return nil
}
