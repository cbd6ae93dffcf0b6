package arrowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// SampleOptions say how a table of numbers is to be read. The zero value
// reads samples in rows, in the format that the file's name or contents show.
type SampleOptions struct {
	// Format is one of parquet, arrow (or feather), arrows, csv, tsv, xlsx. Empty:
	// by the extension of the path and, where that says nothing, by the first
	// bytes.
	Format string
	// Orientation is Rows by default.
	Orientation Orientation
	// IDColumn names the column that labels the rows, by name or as #N for
	// the N-th from 1. Empty: there is none. Its type may be any.
	IDColumn string
	// Sheet is that of an Excel workbook; one of several must be named.
	Sheet string
	// Text says how numbers are written in text.
	Text TextOptions
	// Columns are the variables that are read, Exclude those of them that are not, by
	// name or by patterns in which * stands for any letters and ? for one. One that
	// matches no variable is an InputError. Default: all are read.
	Columns, Exclude []string
	// Rows are the samples that are read, ExcludeRows those of them that are not: their
	// labels, which IDColumn or, with Columns, the header has, patterns of labels as above,
	// or their numbers from 1: #3, #10-20 or #100- to the end. One that matches no sample is
	// an InputError, at the end of the table or before. What a sample that is not read holds
	// does not matter. Default: all are read.
	Rows, ExcludeRows []string
	// Beside are columns that are read beside the variables and are none, by name or as #N
	// for the N-th: numbers or words, but with Columns, where they are rows, numbers.
	// Columns and Exclude are not about them. See Samples.Beside.
	Beside []string
	// KeepMissing delivers missing values as NaN. Default: they are InputErrors.
	KeepMissing bool
	// Fixed are options, by their keys in a document such as id_column, that whoever
	// reads an error cannot set: no error advises them. Nil: all can be set.
	Fixed []string
	// Memory is where Arrow's buffers come from; nil for Go's heap.
	Memory memory.Allocator
	// MostVariables bounds the number of variables; 0 for none. A table of
	// more is an InputError that wraps ErrTooManyVariables.
	MostVariables int
	// Limits bound what the table unpacks to, counted before it is unpacked: see
	// batch.Limits. A table beyond them is an InputError that wraps
	// batch.ErrTooLarge. Of Records, whose reader has limits of its own, it is only
	// the labels that count. Default: those of
	// files on the user's own machine.
	Limits batch.Limits
	// Stdin is read when the path is "-"; nil for the process's own.
	Stdin io.Reader
	// Root opens the files; nil: any of this machine. A path out of its folder is
	// an InputError that wraps an OutsideError.
	Root *Root
	// Stores open paths that are URLs, such as store.All(); nil: they are
	// refused. With a Root only file URLs are opened, and by that.
	Stores Opener
	// Records, if set, are the table when the path is "-", in place of Stdin:
	// batches that are in memory or on their way, as batch.NewReader makes them.
	// They are read to their end and not released.
	Records array.RecordReader
}

// ErrTooManyVariables is what the InputError of a table with more than
// SampleOptions.MostVariables wraps.
var ErrTooManyVariables = errors.New("too many variables")

// admit refuses tables of too many variables.
func (o SampleOptions) admit(path string, d int) error {
	if o.MostVariables == 0 || d <= o.MostVariables {
		return nil
	}
	return &InputError{Path: path, Err: ErrTooManyVariables,
		Reason: fmt.Sprintf("the table has %d variables, and no more than %d are taken here; choose among them, or raise the limit", d, o.MostVariables)}
}

// Samples is an open table of samples, read once from front to back. It is
// not safe for concurrent use.
type Samples struct {
	ctx   context.Context
	src   *input
	fixed []string
	names []string
	ids   []string
	rows  int
	sha   string
	err   error // what Next returns from now on
	// abandoned says that the reader has not noticed the end of its context, and
	// closes itself.
	abandoned bool

	blocks blocks
	digest *digest // of a stream; nil for a file, whose bytes are hashed

	types map[string]int

	keep         bool // missing values are NaN
	missing      int
	firstMissing *InputError
}

// blocks delivers a table of numbers as row-major blocks.
type blocks interface {
	// next returns a block of rows, valid until the next call; io.EOF after the last.
	next() (block, error)
	close() error
}

// OpenSamples opens the table at path, "-" for standard input or a URL that
// o.Stores open, and reads as much of it as tells the names of the variables. Every column other than the
// id column must be numeric: floats or integers, or one column of fixed-size
// lists of floats that holds a whole sample in every row, whose variables are
// named by the field's metadata gladflow.names (a JSON array) or else v0, v1
// and so on.
//
// Variables without a name, with the same name or with one of more than 1,000 bytes,
// columns of other types, unknown id columns and unreadable files are InputErrors. The context ends
// the reading, here and in Next, within a tenth of a second: also that of a pipe
// in which nothing comes. Records must see to that by themselves.
func OpenSamples(ctx context.Context, path string, o SampleOptions) (*Samples, error) {
	if o.Records != nil {
		return openSamples(ctx, path, o)
	}
	return attended(ctx, path, func() (*Samples, error) { return openSamples(ctx, path, o) }, func(s *Samples) {
		if s != nil {
			s.Close()
		}
	})
}

func openSamples(ctx context.Context, path string, o SampleOptions) (_ *Samples, err error) {
	defer func() { err = advised(err, o.Fixed) }()
	m, err := openMatrix(ctx, path, o, o.Orientation == Columns)
	if err != nil {
		return nil, err
	}
	s := &Samples{ctx: ctx, src: m.src, fixed: o.Fixed, names: m.names, blocks: m, keep: o.KeepMissing, types: m.types()}
	if o.Orientation == Columns {
		if err := s.transpose(m, o); err != nil {
			m.close()
			return nil, err
		}
	}
	if err = o.admit(s.src.name, len(s.names)); err == nil {
		err = checkNames(s.src.name, s.names)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if m.src.stream {
		s.digest = newDigest(s.names)
	}
	return s, nil
}

// Names are the d variables in the order of the file.
func (s *Samples) Names() []string { return s.names }

// IDs are the labels of the samples delivered so far, nil without an id
// column.
func (s *Samples) IDs() []string { return s.ids }

// Rows is the number of samples delivered so far: of all of them once Next
// has returned io.EOF.
func (s *Samples) Rows() int { return s.rows }

// LeftOut is the number of samples that SampleOptions.Rows and ExcludeRows have left out so
// far.
func (s *Samples) LeftOut() int {
	switch b := s.blocks.(type) {
	case *matrix:
		return b.leftOut
	case *transposed:
		return b.leftOut
	}
	return 0
}

// Promised is the number of samples that the file says it has, before they are read,
// and whether it says so: Parquet does.
func (s *Samples) Promised() (n int, known bool) {
	m, ok := s.blocks.(*matrix)
	if !ok {
		return 0, false
	}
	f, ok := m.records.(interface{ promised() int })
	if !ok {
		return 0, false
	}
	return f.promised(), true
}

// SHA256 is the checksum of the file's bytes as they are stored, compressed
// or not, in hexadecimal; empty before Next has returned io.EOF. Of Records,
// which have no bytes of their own, it is that of the names as a JSON array, a
// line feed, and the samples row by row as little-endian float64: the same
// however they are cut into batches. Columns beside the variables follow.
func (s *Samples) SHA256() string { return s.sha }

// Next returns the next n samples as an n×d row-major block that is valid
// until the next call, and io.EOF after the last. All values are finite, or missing.
//
// Missing and infinite values, text among numbers, lines of unequal length,
// truncated and corrupt files, and fewer than two samples in all are
// InputErrors. With SampleOptions.KeepMissing missing values are NaN instead.
func (s *Samples) Next() (rows []float64, n int, err error) {
	if s.err != nil {
		return nil, 0, s.err
	}
	if err := s.ctx.Err(); err != nil {
		s.err = s.src.explain(err, "")
		return nil, 0, s.err
	}
	b, err := s.read()
	rows, n, ids := b.rows, b.n, b.ids
	if err != nil {
		s.sha = b.sha
		s.err = advised(err, s.fixed)
		return nil, 0, s.err
	}
	if s.digest != nil {
		s.digest.add(rows)
	}
	if s.keep {
		s.countMissing(b)
	}
	s.rows += n
	s.ids = append(s.ids, ids...)
	return rows, n, nil
}

// Types are the types of the columns of numbers, such as float64, with how many columns
// have each; "text" for a file of text.
func (s *Samples) Types() map[string]int { return s.types }

// A block is some rows of a table, with their labels if there are any, and at the end of
// the table its checksum.
type block struct {
	rows   []float64
	n      int
	ids    []string
	whole  bool  // no value is missing
	origin []int // which rows of the table they are, from 0; nil if they follow each other
	sha    string
}

// row is which row of the table the i-th is, the first being number from unless some are
// left out.
func (b block) row(i, from int) int {
	if b.origin != nil {
		return b.origin[i]
	}
	return from + i
}

// read reads a block, for as long as the context lasts. A stream's own reader
// sees to that.
func (s *Samples) read() (block, error) {
	var b block
	next := func() (err error) {
		b, err = s.blocks.next()
		if err == io.EOF {
			b.sha, err = s.finish()
		}
		return err
	}
	if s.src.stream {
		err := next()
		return b, err
	}
	var err error
	if s.abandoned, err = attend(s.ctx, s.src.name, next, func() { s.blocks.close() }); s.abandoned {
		return block{}, err
	}
	return b, err
}

// finish returns the checksum of the table and io.EOF, or what is wrong with the
// table as a whole.
func (s *Samples) finish() (sha string, err error) {
	if m, ok := s.blocks.(*matrix); ok {
		if err := m.choiceOfRows.unmatched(s.src.name, s.rows+m.leftOut); err != nil {
			return "", err
		}
	}
	switch out := s.LeftOut(); {
	case s.rows < 2 && out > 0:
		return "", noneLeft(s.src.name, s.rows, s.rows+out)
	case s.rows < 2:
		return "", tooFew(s.src.name, s.rows)
	}
	if s.digest != nil {
		s.digest.addBeside(s.Beside())
		return s.digest.sum(), io.EOF
	}
	if sha, err = s.src.sum(); err != nil {
		return "", s.src.explain(err, "file")
	}
	return sha, io.EOF
}

func tooFew(path string, n int) error {
	reason := "the table has no samples"
	if n == 1 {
		reason = "the table has one sample, and two are the least that can vary"
	}
	return fault(path, "%s", reason).advise(lies("rows are samples unless %s is given", "rows are samples"))
}

// Close releases the file and its memory. It may be called at any time, and
// more than once.
func (s *Samples) Close() error {
	if s.abandoned {
		return nil
	}
	return s.blocks.close()
}

// maxName is the most bytes of a name. Names are held several times over, and kept with
// results: together they must be small beside the numbers.
const maxName = 1000

// checkLengths refuses names that are too long.
func checkLengths(path string, names []string) error {
	for i, n := range names {
		if len(n) > maxName {
			return fault(path, "name %d has %d bytes, and %d are the most; choose a shorter one", i+1, len(n), maxName)
		}
	}
	return nil
}

// checkNames refuses names that could not tell the variables apart.
func checkNames(path string, names []string) error {
	if err := checkLengths(path, names); err != nil { // those of rows and of lists
		return err
	}
	seen := make(map[string]int, len(names))
	for i, n := range names {
		if strings.TrimSpace(n) == "" {
			with, without := "name it, or if it labels the rows pass %s", "name it"
			if i > 0 && i == len(names)-1 {
				without = "name it, or if it is empty take the separator away with which lines end"
				with = without + ", or if it labels the rows pass %s"
			}
			return fault(path, "variable %d has no name", i+1).advise(labels(fmt.Sprintf("#%d", i+1), with, without))
		}
		if strings.ToValidUTF8(n, "") != n {
			return fault(path, "the name of variable %d is not UTF-8; save the file as UTF-8", i+1)
		}
		if j, ok := seen[n]; ok {
			return columnFault(path, n, "variables %d and %d have the same name; rename or remove one", j+1, i+1)
		}
		seen[n] = i
	}
	return nil
}

// checkVariable refuses a column that cannot be a variable.
func checkVariable(path string, f arrow.Field) error {
	switch {
	case isText(f.Type):
		return notNumbers(path, "text", f.Name)
	case f.Type.ID() == arrow.BOOL:
		return notNumbers(path, "booleans", f.Name)
	case f.Type.ID() == arrow.NULL:
		return columnFault(path, f.Name, "%s", missingValue("the column is empty"))
	case !isNumber(f.Type):
		return unusableType(path, f)
	case strings.HasPrefix(f.Name, "__index_level_"):
		return columnFault(path, f.Name, "the column is the index of a pandas table").
			advise(labels(f.Name, "pass %s, or write the table with index=False", "write the table with index=False"))
	}
	return nil
}
