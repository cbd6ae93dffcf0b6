package arrowio

import (
	"io"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A Format is a way to write one kind of output, a T.
type Format[T any] struct {
	// Name is what callers choose it by, and the extension of its files.
	Name string
	// Title is its name for people.
	Title string
	// Write writes a file of that name in a folder, whole or not at all, as
	// ReplaceFileIn makes it. metadata stand in the file, or beside it, as far as
	// the format has a place for them. It returns the file and what it has written
	// beside it; sizes and checksums are of the bytes that were written.
	Write func(folder *os.Root, name string, v T, metadata map[string]string) ([]Written, error)
	// Encode writes the bytes of that file into w. What Write puts beside the file is not
	// there.
	Encode func(w io.Writer, v T, metadata map[string]string) error
}

// Formats are those of one kind of output, the default first. EdgeFormats,
// PrecisionFormats and TableFormats return copies, to which a caller may add its
// own.
type Formats[T any] []Format[T]

// Names are the names of the formats, in their order.
func (f Formats[T]) Names() []string {
	names := make([]string, len(f))
	for i, format := range f {
		names[i] = format.Name
	}
	return names
}

// Find returns the format of a name. That there is none is an InputError that
// names those there are.
func (f Formats[T]) Find(name string) (Format[T], error) {
	for _, format := range f {
		if format.Name == name {
			return format, nil
		}
	}
	names := f.Names()
	last := len(names) - 1
	return Format[T]{}, fault("output", "the format %q is unknown; use %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// For returns the format of a name, or the default if there is none: for a kind
// of output that is written along with another, whose format was chosen.
func (f Formats[T]) For(name string) Format[T] {
	if format, err := f.Find(name); err == nil {
		return format
	}
	return f[0]
}

func (f Formats[T]) write(path, format string, v T, metadata map[string]string) error {
	by, err := f.Find(format)
	if err != nil {
		return err
	}
	return inFolderOf(path, func(folder *os.Root, name string) error {
		_, err := by.Write(folder, name, v, metadata)
		return err
	})
}

// Formats in which every kind of output is written.
const (
	Parquet = "parquet"
	Arrow   = "arrow"
	CSV     = "csv"
)

// TableFormats are those of plain tables: samples, metrics and the like.
func TableFormats() Formats[[]Column] {
	whole := func(c []Column) []Column { return c }
	return Formats[[]Column]{
		tabular(parquetEncoding(), whole),
		tabular(arrowEncoding(), whole),
		tabular(csvEncoding(), whole),
	}
}

// EdgeFormats are those of edge lists: EdgeColumns or the Columns of a Ranked, and those
// of a Confidence after them. A format for edge lists alone is a file of its own and a
// line here.
func EdgeFormats() Formats[[]Column] { return append(TableFormats(), graphFormats()...) }

// PrecisionFormats are those of precision matrices.
func PrecisionFormats() Formats[Precision] {
	return Formats[Precision]{
		tabular(parquetEncoding(), Precision.Columns),
		tabular(arrowEncoding(), Precision.Columns),
		tabular(csvEncoding(), Precision.textColumns),
	}
}

// An encoding stores any table.
type encoding struct {
	name, title string
	encode      func(*output, io.Writer) error
	// commit names a file that is whole, if there is more to it than that.
	// It returns what it has named, or the error of the file that could not be.
	commit func(file *staged, sch *arrow.Schema) ([]Written, error)
}

// tabular is the format of what an encoding stores as columns.
func tabular[T any](e encoding, columns func(T) []Column) Format[T] {
	return Format[T]{Name: e.name, Title: e.title, Write: func(folder *os.Root, name string, v T, metadata map[string]string) ([]Written, error) {
		return e.write(folder, name, columns(v), metadata)
	}, Encode: func(w io.Writer, v T, metadata map[string]string) error {
		t, err := newOutput(columns(v), metadata)
		if err != nil {
			return err
		}
		defer t.record.Release()
		return e.to(w, t)
	}}
}

func (e encoding) write(folder *os.Root, name string, columns []Column, metadata map[string]string) ([]Written, error) {
	file, schema, err := e.stage(folder, name, columns, metadata)
	switch {
	case err != nil:
		return nil, unwritten(folder, name, err)
	case e.commit != nil:
		return e.commit(file, schema)
	}
	if err := file.commit(); err != nil {
		return nil, unwritten(folder, name, err)
	}
	return []Written{file.written}, nil
}

// stage stages a file with a table, whose schema it returns too.
func (e encoding) stage(folder *os.Root, name string, columns []Column, metadata map[string]string) (*staged, *arrow.Schema, error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	t, err := newOutput(columns, metadata)
	if err != nil {
		return nil, nil, err
	}
	defer t.record.Release()
	file, err := stage(folder, name, func(w io.Writer) error { return e.to(w, t) })
	return file, t.record.Schema(), err
}

// to encodes a table.
func (e encoding) to(w io.Writer, t *output) error {
	return batch.Guard(func() error { return e.encode(t, w) })
}
