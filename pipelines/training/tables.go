package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// Endings of the stems of files that say what is known of a table.
const (
	precisionStem = ".precision"
	referenceStem = ".reference"
)

// A pair is a table with what is known of it, as paths.
type pair struct {
	table                string
	precision, reference string // one of them may be empty
}

// pairs lists a folder. Files that are no tables, folders and hidden files do
// not count; whatever else has no partner is an error.
func pairs(folder string) ([]pair, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, job.FileError("data", folder, err)
	}
	byStem := make(map[string]*pair)
	var stems []string
	for _, e := range entries {
		stem, ok := tableStem(e.Name())
		if !ok || e.IsDir() {
			continue
		}
		ending := ""
		for _, known := range []string{precisionStem, referenceStem} {
			if strings.HasSuffix(stem, known) {
				stem, ending = strings.TrimSuffix(stem, known), known
			}
		}
		p := byStem[stem]
		if p == nil {
			p = &pair{}
			byStem[stem] = p
			stems = append(stems, stem)
		}
		to := map[string]*string{"": &p.table, precisionStem: &p.precision, referenceStem: &p.reference}[ending]
		path := filepath.Join(folder, e.Name())
		if *to != "" {
			return nil, job.Errorf("data", "%s and %s have one name; leave one in the folder", *to, path)
		}
		*to = path
	}
	if len(stems) == 0 {
		return nil, job.Errorf("data", "%s: there is no table in the folder; put tables there as NAME.csv, each with NAME.precision.csv or NAME.reference.csv", folder)
	}
	list := make([]pair, len(stems))
	for i, stem := range stems {
		list[i] = *byStem[stem]
		known := list[i].precision + list[i].reference
		switch {
		case list[i].table == "":
			return nil, job.Errorf("data", "%s: there is no table %s.csv, .tsv, .parquet or .arrow that it belongs to; add it, or take the file away", known, stem)
		case known == "":
			return nil, job.Errorf("data", "%s: nothing is known of the table; add %s.csv or %s.csv, or take it away", list[i].table, stem+precisionStem, stem+referenceStem)
		}
	}
	return list, nil
}

// tableStem is the name of a file without the ending of a table, and whether it
// has one.
func tableStem(name string) (string, bool) {
	inner := strings.TrimSuffix(name, ".gz")
	extension := filepath.Ext(inner)
	stem := strings.TrimSuffix(inner, extension)
	text := extension == ".csv" || extension == ".tsv" // which may be compressed
	known := (text || inner == name) && slices.Contains(job.Choices(&job.Job{}, "input_format"), strings.TrimPrefix(extension, "."))
	return stem, known && stem != "" && !strings.HasPrefix(name, ".")
}

// tables reads the folder and divides it by the seed.
func (t document) tables(ctx context.Context, engine dense.Engine, report *progress.Reporter) (examples, error) {
	var x examples
	list, err := pairs(t.Data)
	if err != nil {
		return x, err
	}
	all := make([]solver.Example, len(list))
	references := 0
	for i, p := range list {
		var warnings []string
		if all[i], warnings, err = t.read(ctx, p, engine); err != nil {
			return x, err
		}
		if p.precision == "" {
			references++
		}
		x.warnings = append(x.warnings, warnings...)
		report.Report(float64(i+1)/float64(len(list)), p.table)
	}
	x.training, x.validation = all, all
	if n := len(all); n > 1 {
		order := stream(t.Seed, validationStream, 0).Perm(n)
		part := min(max(1, int(math.Round(t.ValidationPart*float64(n)))), n-1)
		x.training, x.validation = nil, nil
		for k, i := range order {
			if k < part {
				x.validation = append(x.validation, all[i])
			} else {
				x.training = append(x.training, all[i])
			}
		}
	} else {
		x.warnings = append(x.warnings, "there is a single table, so the validation figures are those of the training data; they say nothing of other data")
	}
	x.networksOnly = references == len(all)
	x.graphs = len(x.training)
	for _, e := range x.training {
		x.dimensions, x.samples = append(x.dimensions, e.S.Len()), append(x.samples, e.Samples)
	}
	for _, c := range []*job.Counts{&x.dimensions, &x.samples} {
		slices.Sort(*c)
		*c = slices.Compact(*c)
	}
	kind := t.Correlation + " correlations"
	if t.Correlation == covariance.Covariance.String() {
		kind = "covariances"
	}
	x.family = fmt.Sprintf("%s of %s", kind, progress.Count(len(x.training), "table"))
	if references > 0 {
		x.family += fmt.Sprintf(" (%d of the %d in the folder with a network only)", references, len(all))
	}
	report.Done(fmt.Sprintf("%s, %d of them for validation", progress.Count(len(all), "table"), len(x.validation)))
	return x, nil
}

// read makes an example of a pair: S as a recovery makes it of the table.
func (t document) read(ctx context.Context, p pair, engine dense.Engine) (solver.Example, []string, error) {
	source := table.Source{
		Path: p.table, Correlation: t.Correlation, Orientation: t.Orientation, IDColumn: t.IDColumn,
		Fixed: append(arrowio.TextKeys(), "input_format", "missing", "constant"), // a training has none
	}
	data, err := table.Read(ctx, source, table.Files{}, engine)
	if err != nil {
		return solver.Example{}, nil, asTraining(p.table, err)
	}
	e := solver.Example{S: data.Problem.S, Samples: data.Problem.Samples}
	if p.precision != "" {
		e.Truth, err = readPrecision(ctx, p.precision, p.table, data.Names, source.Standardised())
	} else {
		e.Truth, err = readNetwork(ctx, p.reference, p.table, data.Names, e.S)
	}
	warnings := data.Warnings
	for i, w := range warnings {
		warnings[i] = p.table + ": " + w
	}
	return e, warnings, err
}

// readPrecision reads a precision matrix and puts it into the order of the
// variables of a table. For a correlation it is that of the standardised
// variables, σi·σj·Θij with σ² the diagonal of Θ⁻¹.
func readPrecision(ctx context.Context, path, samples string, variables []string, standardised bool) (*dense.Sym, error) {
	theta, _, err := table.ReadSquare(ctx, "data", path, variables, table.Files{}, "give the matrix of the variables of "+samples)
	if err != nil {
		return nil, err
	}
	inverse, ok := theta.Clone(), false
	err = dense.Await(ctx, func() { _, ok = dense.NewWorkspace(dense.Gonum{}, theta.Len()).Inverse(inverse, theta) })
	if err != nil {
		return nil, err
	}
	if !ok || !inverse.Finite() {
		return nil, job.Errorf("data", "%s: the matrix is not positive definite, so it is no precision matrix", path)
	}
	if standardised {
		for i := range theta.Len() {
			for j := i; j < theta.Len(); j++ {
				theta.Set(i, j, theta.At(i, j)*math.Sqrt(inverse.At(i, i))*math.Sqrt(inverse.At(j, j)))
			}
		}
	}
	return theta, nil
}

// readNetwork reads a reference network and returns the precision matrix of S
// that has its zeros: see covarianceSelection. Edges of either direction count;
// pairs that the file does not list are none.
func readNetwork(ctx context.Context, path, samples string, variables []string, s *dense.Sym) (*dense.Sym, error) {
	ref, err := arrowio.ReadReference(ctx, path, arrowio.ListOptions{Fixed: []string{"input_format"}})
	if err != nil {
		return nil, table.FieldError("data", err)
	}
	at := table.Positions(variables)
	edges := dense.NewSym(len(variables), nil)
	found := 0
	for k, source := range ref.Source {
		i, known := at[source]
		j, knownTarget := at[ref.Target[k]]
		switch {
		case !known || !knownTarget:
			unknown := source
			if known {
				unknown = ref.Target[k]
			}
			return nil, job.Errorf("data", "%s: the variable %q is not in %s; name its variables only", path, unknown, samples)
		case ref.Label[k] && i != j:
			edges.Set(i, j, 1)
			found++
		}
	}
	if found == 0 {
		return nil, job.Errorf("data", "%s: it lists no edge, so there is nothing to learn from; label edges with 1", path)
	}
	theta, err := covarianceSelection(ctx, s, edges)
	if err != nil && ctx.Err() == nil {
		return nil, job.Errorf("data", "%s: no precision matrix with its zeros fits %s (%v)", path, samples, err)
	}
	return theta, err
}

// selectionPenalty is the penalty of edges in covarianceSelection, as a part of
// the mean variance.
const selectionPenalty = 1e-3

// selectionGap is the relative duality gap to which covarianceSelection solves:
// the entries are then true to four or five digits.
const selectionGap = 1e-9

// covarianceSelection is the maximum-likelihood precision matrix of s whose
// entries off the diagonal are zero but at edges, where edges is not (Dempster,
// "Covariance selection", Biometrics 28, 1972). A penalty of a thousandth of the
// mean variance on the edges lets it exist for a singular s too; that of other
// pairs is above what any covariance reaches.
func covarianceSelection(ctx context.Context, s, edges *dense.Sym) (*dense.Sym, error) {
	d := s.Len()
	penalty := dense.NewSym(d, nil)
	small := selectionPenalty * s.Trace() / float64(d)
	for i := range d {
		for j := range i {
			rho := small
			if edges.At(i, j) == 0 {
				// |Wij| < √(Sii·Sjj) for every positive definite W with the
				// diagonal of S, so that |Wij − Sij| stays below.
				rho = 2.1 * math.Sqrt(s.At(i, i)) * math.Sqrt(s.At(j, j))
			}
			penalty.Set(i, j, rho)
		}
	}
	settings := glasso.Settings{Penalty: glasso.Penalty{Matrix: penalty}, Gap: selectionGap}
	est, err := glasso.BCD{Settings: settings}.Solve(ctx, solver.Problem{S: s})
	if err != nil {
		return nil, err
	}
	if err := est.Status.Err(); err != nil && !(est.RelativeGap() <= selectionGap*100) {
		return nil, err // rounding may keep the last digits of the gap
	}
	theta := est.Precision.Clone()
	for i := range d {
		for j := range i {
			if edges.At(i, j) == 0 {
				theta.Set(i, j, 0)
			}
		}
	}
	return theta, nil
}

// asTraining makes an error about the input of a job one about the folder that
// the table is in.
func asTraining(path string, err error) error {
	var wrong *job.Error
	if !errors.As(err, &wrong) || wrong.Field != "input" {
		return err
	}
	sentence := wrong.Reason
	if sentence == "" {
		sentence = wrong.Err.Error() // whose options Text finds again
	}
	if !strings.Contains(sentence, path) {
		sentence = path + ": " + sentence
	}
	return &job.Error{Field: "data", Reason: sentence, Err: wrong.Err}
}
