// Package table turns any input into a problem for solvers and the names of its
// variables: a table of samples, of which it estimates the covariance or
// correlation, or a covariance that was estimated elsewhere. Recovery, training
// and evaluation read their files through it.
//
//	t, err := table.Open(ctx, table.Source{Path: "expression.parquet"}, table.Files{})
//	if err != nil {
//		return err // a *job.Error is the user's to put right
//	}
//	defer t.Close()
//	data, err := t.Estimate(ctx, engine, report)
package table

import (
	"context"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
)

// A Source says where a table is and what is estimated from it. The fields are
// those of job.Job; their values are valid, and their defaults filled in.
type Source struct {
	// Path is the table: a path, a URL, or job.Stdin.
	Path string
	// Kind is what it holds. Of a covariance or correlation, Samples says how
	// many samples are behind it.
	Kind    string
	Samples int
	// Format, Orientation and IDColumn say how to read it.
	Format, Orientation, IDColumn string
	// Sheet is that of a workbook. NoHeader, Decimal, Thousands and NA say how text is written, Columns and Exclude
	// which variables are taken.
	Sheet              string
	NoHeader           bool
	Decimal, Thousands string
	NA                 []string
	Columns, Exclude   []string
	// Rows and ExcludeRows say which samples are taken. Adjust are columns that are
	// regressed out of the variables, Weights the column with the weights of the samples.
	Rows, ExcludeRows []string
	Adjust            []string
	Weights           string
	// Transform, Constant, TopVariance and Missing say what is done before anything is
	// estimated.
	Transform, Constant string
	TopVariance         int
	Missing             string
	// Correlation, Divisor and Shrinkage say what to estimate.
	Correlation, Divisor string
	Shrinkage            job.Value
	// Fixed are the keys of options that the user cannot set: errors do not
	// advise them.
	Fixed []string
}

// SourceOf is the input of a job, which is resolved.
func SourceOf(j job.Job) Source {
	return Source{
		Path: j.Input, Kind: j.InputKind, Samples: j.Samples,
		Format: j.InputFormat, Orientation: j.Orientation, IDColumn: j.IDColumn,
		Sheet: j.Sheet, NoHeader: j.NoHeader, Decimal: j.Decimal, Thousands: j.Thousands, NA: j.NA,
		Columns: j.Columns, Exclude: j.Exclude, Rows: j.Rows, ExcludeRows: j.ExcludeRows,
		Adjust: j.Adjust, Weights: j.Weights,
		Transform: j.Transform, Constant: j.Constant, TopVariance: j.TopVariance, Missing: j.Missing,
		Correlation: j.Correlation, Divisor: j.Divisor, Shrinkage: j.Shrinkage,
	}
}

func (s Source) holdsSamples() bool { return s.Kind == "" || s.Kind == job.KindSamples }

// Gathers says that Open reads all samples, because what they hold says which variables
// are taken, or because missing values are treated.
func (s Source) Gathers() bool {
	return s.holdsSamples() && (s.Constant == job.ConstantDrop || s.TopVariance > 0 || s.treatsMissing() || s.Correlation == job.CorrelationAuto || s.besides())
}

// besides says that columns stand beside the variables.
func (s Source) besides() bool { return len(s.beside()) > 0 }

// beside are these columns, that of the weights last.
func (s Source) beside() []string {
	columns := slices.Clone(s.Adjust)
	if s.Weights != "" {
		columns = append(columns, s.Weights)
	}
	return columns
}

// Standardised reports whether the problem is that of standardised variables.
func (s Source) Standardised() bool {
	return s.Kind == job.KindCorrelation || s.Correlation != covariance.Covariance.String()
}

// Files are what tables are read through. The zero value reads files of this
// machine, and the process's standard input.
type Files struct {
	// Stdin is read for the path job.Stdin. Default (nil): the process's.
	Stdin io.Reader
	// Records, if set, are the table at the path job.Stdin, in place of Stdin.
	// They are read to their end and not released.
	Records array.RecordReader
	// Root opens the files that are named, and the folders that are written to.
	// Default (nil): any of this machine.
	Root *arrowio.Root
	// Stores open inputs that are URLs, such as store.All(). Default (nil): URLs
	// are refused. With a Root only file URLs are opened, and by that.
	Stores arrowio.Opener
	// MostVariables bounds the number of variables; 0 for none. A table of
	// more is a job.Error that wraps arrowio.ErrTooManyVariables.
	MostVariables int
	// Limits bound what a table unpacks to; see arrowio.SampleOptions. Those of
	// Records are with whoever makes them.
	Limits batch.Limits
	// Report, if set, is told of the samples that Open reads: see Source.Gathers.
	Report *progress.Reporter
	// Keep, if set, is called before Estimate keeps so many bytes more of samples,
	// which it does until the last has come: all at once where the file says how
	// many there are. An error of it is that of Estimate.
	Keep func(more int64) error
	// Admit, if set, is called by Look when the variables are known, before it takes so
	// many bytes for their covariance. An error of it is that of Look.
	Admit func(bytes int64, variables int) error
}

// nameOf is what errors call the table at a path.
func (f Files) nameOf(path string) string {
	if f.Records != nil && path == job.Stdin {
		return batch.StreamName
	}
	return arrowio.NameOf(path)
}

// Lists are the options for lists of pairs.
func (f Files) Lists() arrowio.ListOptions {
	return arrowio.ListOptions{Stdin: f.Stdin, Root: f.Root, Stores: f.Stores, Limits: f.Limits}
}

// A Table is an input that was opened: its variables are known, its samples are
// still to be read.
type Table struct {
	// Names are those of the variables.
	Names []string
	// KeepSamples asks Estimate for the samples themselves.
	KeepSamples bool
	// KeepResampler asks Estimate for what estimates again from some of the samples.
	KeepResampler bool
	// KeepColumns asks Estimate for Columns in place of S, where HoldsColumns.
	KeepColumns bool

	// Preparation says what was done before, once the table has been read.
	Preparation Preparation

	source     Source
	name       string // what errors call it
	keep       func(more int64) error
	columns    *covariance.Columns
	samples    *arrowio.Samples // nil for a matrix, and once they have been gathered
	cleaned    *cleaned         // what has been read of them
	rows       []float64        // gathered samples; NaN is a missing value
	weights    []float64        // of them; nil if they are equal
	covariates [][]float64      // that were regressed out of them
	notes      []string         // warnings of what has been done to them
	// kurtosis is that of every variable, once the samples have been read.
	kurtosis []float64
	types    map[string]int // of its columns
	matrix   []float64
	sha256   string // of a matrix; that of samples is known at their end
}

// Open opens the table of a source. What the user can put right is a *job.Error
// of the field input or input_kind. Where the source says that variables are left out by
// their values, or that missing ones are treated, all samples are read here.
func Open(ctx context.Context, s Source, f Files) (*Table, error) {
	t := &Table{source: s, name: f.nameOf(s.Path), keep: f.Keep}
	options := arrowio.SampleOptions{
		Format:        s.Format,
		Fixed:         s.Fixed,
		IDColumn:      s.IDColumn,
		Stdin:         f.Stdin,
		Records:       f.Records,
		Root:          f.Root,
		Stores:        f.Stores,
		MostVariables: f.MostVariables,
		Limits:        f.Limits,
		Text:          arrowio.TextOptions{NoHeader: s.NoHeader, Decimal: mark(s.Decimal), Thousands: mark(s.Thousands), Missing: s.NA},
		Sheet:         s.Sheet,
		Columns:       s.Columns,
		Exclude:       s.Exclude,
		Rows:          s.Rows,
		ExcludeRows:   s.ExcludeRows,
		Beside:        s.beside(),
		KeepMissing:   true,
	}
	if s.Orientation == "columns" {
		options.Orientation = arrowio.Columns
	}
	var err error
	if s.holdsSamples() {
		if t.samples, err = arrowio.OpenSamples(ctx, s.Path, options); err != nil {
			return nil, FieldError("input", err)
		}
		t.Names, t.types = t.samples.Names(), t.samples.Types()
		if s.Gathers() {
			if err := t.gather(ctx, f.Report); err != nil {
				t.Close()
				return nil, err
			}
		}
		return t, nil
	}
	options.Fixed = append(arrowio.TextKeys(), options.Fixed...)
	if t.Names, t.matrix, t.sha256, err = arrowio.ReadSquare(ctx, s.Path, options); err != nil {
		return nil, FieldError("input", err)
	}
	if s.Kind == job.KindCorrelation {
		err = checkUnitDiagonal(t.Names, t.matrix)
	}
	return t, err
}

// mark is the byte of a mark in a document; 0 for none.
func mark(text string) byte {
	if text == "" {
		return 0
	}
	return text[0]
}

// checkUnitDiagonal refuses a covariance that is called a correlation: its
// standard deviations would be lost unnoticed.
func checkUnitDiagonal(names []string, matrix []float64) error {
	const rounding = 1e-6 // of correlations printed with six digits or more
	for i, name := range names {
		if v := matrix[i*len(names)+i]; !(v > 1-rounding && v < 1+rounding) {
			return job.Errorf("input_kind", "the diagonal entry of %q is %v, and a correlation has 1 there; call the input a covariance", name, v)
		}
	}
	return nil
}

// Close closes the table. t may be nil.
func (t *Table) Close() {
	if t != nil && t.samples != nil {
		t.samples.Close()
	}
}

// Standardised reports whether the problem is that of standardised variables.
func (t *Table) Standardised() bool { return t.source.Standardised() }
