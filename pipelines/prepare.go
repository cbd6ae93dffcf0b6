package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// recovery is one run of a job.
type recovery struct {
	job     Job // resolved
	host    Host
	started time.Time

	engine     dense.Engine
	model      *glad.Model        // nil unless GLAD runs
	population *metric.Population // nil without a reference
	penalties  *dense.Sym         // nil without a penalty matrix
	result     *Result
	input      input
	madeOut    bool // whether the output folder was not there before
}

// input is the opened table: a stream of samples, or a matrix.
type input struct {
	names   []string
	samples *arrowio.Samples // nil for a matrix
	matrix  []float64
	sha256  string // of a matrix; the samples' is known at their end
}

// prepare opens and checks everything that a run needs, so that nothing the
// user can put right stops it after hours of computing.
func (r *recovery) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.openEngine, r.openModel, r.openInput, r.openReference, r.openPenalties, r.openOutput,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *recovery) openEngine(context.Context) error {
	engine, err := dense.Open(r.job.Engine)
	if err != nil {
		return &JobError{Field: "engine", Err: err}
	}
	r.engine = engine
	r.result.Engine = engine.Name()
	if t, ok := engine.(dense.Threader); ok {
		r.result.Threads = t.Threads()
	}
	return nil
}

func (r *recovery) openModel(context.Context) error {
	if !slices.Contains(r.job.Solvers, "glad") {
		return nil
	}
	model, err := OpenModel(r.job.Model)
	r.model = model
	return err
}

// OpenModel returns the built-in model called name, or reads the model file at
// that path. What is wrong with either is a JobError.
func OpenModel(name string) (*glad.Model, error) {
	if slices.Contains(glad.BuiltinNames(), name) {
		return glad.Builtin(name)
	}
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrong("model", "%q is neither a built-in model (%s) nor a file; see gladflow models", arrowio.Redacted(name), oneOf(glad.BuiltinNames()))
	case err != nil:
		return nil, &JobError{Field: "model", Reason: name + ": " + unreadable(err), Err: err}
	}
	defer f.Close()
	model, err := glad.Read(f)
	if err != nil {
		return nil, &JobError{Field: "model", Reason: name + ": " + err.Error(), Err: err}
	}
	return model, nil
}

func (r *recovery) sampleOptions() arrowio.SampleOptions {
	orientation := arrowio.Rows
	if r.job.Orientation == "columns" {
		orientation = arrowio.Columns
	}
	return arrowio.SampleOptions{
		Format:      r.job.InputFormat,
		Orientation: orientation,
		IDColumn:    r.job.IDColumn,
		Stdin:       r.host.Stdin,
		Records:     r.host.Records,
		Stores:      r.host.Stores,

		MostVariables: r.host.MostVariables,
	}
}

func (r *recovery) openInput(ctx context.Context) (err error) {
	in := &r.input
	if r.job.samplesGiven() {
		if in.samples, err = arrowio.OpenSamples(ctx, r.job.Input, r.sampleOptions()); err != nil {
			return blame("input", err)
		}
		in.names = in.samples.Names()
		return nil
	}
	in.names, in.matrix, in.sha256, err = arrowio.ReadSquare(ctx, r.job.Input, r.sampleOptions())
	if err != nil {
		return blame("input", err)
	}
	if r.job.InputKind == KindCorrelation {
		return checkUnitDiagonal(in.names, in.matrix)
	}
	return nil
}

// checkUnitDiagonal refuses a covariance that is called a correlation: its
// standard deviations would be lost unnoticed.
func checkUnitDiagonal(names []string, matrix []float64) error {
	const rounding = 1e-6 // of correlations printed with six digits or more
	for i, name := range names {
		if v := matrix[i*len(names)+i]; !(v > 1-rounding && v < 1+rounding) {
			return wrong("input_kind", "the diagonal entry of %q is %v, and a correlation has 1 there; call the input a covariance", name, v)
		}
	}
	return nil
}

func (r *recovery) openReference(ctx context.Context) error {
	if r.job.Reference == "" {
		return nil
	}
	ref, err := arrowio.ReadReference(ctx, r.job.Reference, arrowio.ListOptions{Stdin: r.host.Stdin, Stores: r.host.Stores, Fixed: []string{"input_format"}})
	if err != nil {
		return blame("reference", err)
	}
	r.population, err = population(ref, r.input.names, r.job.Population, r.job.Undirected)
	if err != nil {
		return blame("reference", err)
	}
	r.result.Reference = &ReferenceResult{
		Path:             r.result.Job.Reference,
		SHA256:           ref.SHA256,
		PopulationResult: populationResult(r.population),
	}
	return nil
}

// population is the pairs of names that a reference is scored on.
func population(ref *arrowio.Reference, names []string, kind string, undirected bool) (*metric.Population, error) {
	k, err := metric.ParseKind(kind)
	if err != nil {
		return nil, &JobError{Field: "population", Err: err}
	}
	known := metric.Reference{Source: ref.Source, Target: ref.Target, Label: ref.Label}
	return known.Population(names, k, undirected)
}

// openPenalties reads the penalty matrix and puts it into the order of the
// variables.
func (r *recovery) openPenalties(ctx context.Context) error {
	path := r.job.PenaltyMatrix
	if path == "" {
		return nil
	}
	names, values, sha, err := arrowio.ReadSquare(ctx, path, arrowio.SampleOptions{Stdin: r.host.Stdin, Stores: r.host.Stores, Fixed: []string{"id_column", "input_format"}})
	if err != nil {
		return blame("penalty_matrix", err)
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	order := make([]int, len(r.input.names))
	for i, name := range r.input.names {
		k, ok := at[name]
		if !ok {
			return wrong("penalty_matrix", "%s: there is no row for the variable %q; give a penalty for every pair of variables", path, name)
		}
		order[i] = k
	}
	if len(names) != len(order) {
		return wrong("penalty_matrix", "%s: it has %d variables and the input %d; give a row for each of these and no other", path, len(names), len(order))
	}
	for i, v := range values {
		if v < 0 {
			return wrong("penalty_matrix", "%s: the penalty of %q and %q is %v; give numbers that are zero or more", path, names[i/len(names)], names[i%len(names)], v)
		}
	}
	r.penalties = dense.NewSym(len(names), values).Submatrix(order)
	r.result.Penalty = &PenaltyResult{From: "matrix", Rho: notANumber(), MatrixSHA256: sha}
	return nil
}

// openOutput makes the folder and tries whether files can be written there.
func (r *recovery) openOutput(context.Context) error {
	if r.job.Out == "" {
		return nil
	}
	_, err := os.Stat(r.job.Out)
	r.madeOut = errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(r.job.Out, 0o777); err != nil {
		return &JobError{Field: "out", Reason: fmt.Sprintf("the folder cannot be made (%v); choose another", err), Err: err}
	}
	f, err := os.CreateTemp(r.job.Out, ".gladflow-*.tmp")
	if err != nil {
		return &JobError{Field: "out", Reason: fmt.Sprintf("the folder cannot be written to (%v); choose another", err), Err: err}
	}
	f.Close()
	return os.Remove(f.Name())
}

// discardOutput takes away the folder of a run that has nothing to put there.
func (r *recovery) discardOutput() {
	if r.madeOut {
		os.Remove(r.job.Out) // which leaves it if it is not empty
	}
}

func (r *recovery) close() {
	if r.input.samples != nil {
		r.input.samples.Close()
	}
}
