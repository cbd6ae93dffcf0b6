// Package comparison measures solvers against each other on one table with a known
// network: it runs them, takes every score, and has figures on populations of pairs
// with standard errors by bootstrap over the regulators, and paired differences.
// Package benchmark does that for many tables.
//
//	t, err := comparison.ReadTable(ctx, "expression.tsv.gz", arrowio.SampleOptions{})
//	...
//	judge, err := comparison.NewJudge(reference, t.Names, comparison.Settings{Kind: metric.All, Undirected: true})
//	...
//	_, err = comparison.Solve(ctx, job.Job{Solvers: []string{"glad", "bcd"}}, t, comparison.Host{}, func(s comparison.Solved) error {
//		figures, err := judge.Score(ctx, s.Scores)
//		...
//	})
package comparison

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A Table is samples in memory, so that several runs read them once.
type Table struct {
	// Names are those of the d variables.
	Names []string
	// Samples is their number M, SHA256 the checksum of the file's bytes.
	Samples int
	SHA256  string

	columns [][]float64 // d, each of M values
}

// ReadTable reads a table of samples to its end. What the user can put right is a
// *job.Error of the field input.
func ReadTable(ctx context.Context, path string, o arrowio.SampleOptions) (*Table, error) {
	o.Fixed = append(arrowio.TextKeys(), o.Fixed...)
	s, err := arrowio.OpenSamples(ctx, path, o)
	if err != nil {
		return nil, table.FieldError("input", err)
	}
	defer s.Close()
	t := &Table{Names: s.Names(), columns: make([][]float64, len(s.Names()))}
	d := len(t.Names)
	for {
		rows, n, err := s.Next()
		if err == io.EOF {
			t.Samples, t.SHA256 = s.Rows(), s.SHA256()
			return t, nil
		}
		if err != nil {
			return nil, table.FieldError("input", err)
		}
		for j := range t.columns {
			for i := range n {
				t.columns[j] = append(t.columns[j], rows[i*d+j])
			}
		}
	}
}

// ReadLabelled is ReadTable of a file of which nobody has said which column labels the
// rows: a column that has a word from the first row on is taken for it. It returns its
// name, empty for none.
func ReadLabelled(ctx context.Context, path string, o arrowio.SampleOptions) (t *Table, idColumn string, err error) {
	t, err = ReadTable(ctx, path, o)
	wrong := new(arrowio.InputError)
	if errors.As(err, &wrong) && wrong.Advice.Option == "id_column" && wrong.Advice.Value != "" && wrong.Row <= 1 && o.IDColumn == "" {
		o.IDColumn = wrong.Advice.Value
		t, err = ReadTable(ctx, path, o)
	}
	return t, o.IDColumn, err
}

// Only returns the table with the variables that keep is true of, in their order. They
// share memory with t.
func (t *Table) Only(keep func(name string) bool) *Table {
	some := &Table{Samples: t.Samples, SHA256: t.SHA256}
	for j, name := range t.Names {
		if keep(name) {
			some.Names = append(some.Names, name)
			some.columns = append(some.columns, t.columns[j])
		}
	}
	return some
}

// Rows are the samples one after the other, M·d numbers.
func (t *Table) Rows() []float64 {
	d := len(t.columns)
	rows := make([]float64, t.Samples*d)
	for j, column := range t.columns {
		for i, v := range column {
			rows[i*d+j] = v
		}
	}
	return rows
}

// Constant reports whether the variable of a name has one value in all samples.
func (t *Table) Constant(name string) bool {
	at := slices.Index(t.Names, name)
	return at >= 0 && slices.Min(t.columns[at]) == slices.Max(t.columns[at])
}

// records are the table as a stream of one batch. The caller releases it.
func (t *Table) records() (array.RecordReader, error) {
	columns := make([]arrowio.Column, len(t.Names))
	for j, name := range t.Names {
		columns[j] = arrowio.Column{Name: name, Values: t.columns[j]}
	}
	record, err := arrowio.NewRecord(columns, nil)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return array.NewRecordReader(record.Schema(), []arrow.Record{record})
}
