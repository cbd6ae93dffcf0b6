package arrowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// ListOptions say how a list of pairs is to be read. The zero value reads the
// format that the file's name or contents show.
type ListOptions struct {
	// Format is as in SampleOptions.
	Format string
	// Memory is where Arrow's buffers come from; nil for Go's heap.
	Memory memory.Allocator
	// Stdin is read when the path is "-"; nil for the process's own.
	Stdin io.Reader
	// Records, if set, are the list when the path is "-", as in SampleOptions.
	Records array.RecordReader
	// Root opens the files, as in SampleOptions.
	Root *Root
	// Stores open paths that are URLs; nil: they are refused.
	Stores Opener
	// Limits are as in SampleOptions.
	Limits batch.Limits
	// Fixed is as in SampleOptions.
	Fixed []string
}

// A pairList is an opened list of pairs with a column or two of numbers.
type pairList struct {
	*table
	source, target int
	score, label   int // −1 for none
	more           []moreColumn
	rows           int
	interned       map[string]string
}

// role is what a column of a list may be.
type role struct {
	what  string
	names string // separated by spaces; lower-case letters and digits only
}

// The names by which columns are known, compared in lower case and without
// spaces and punctuation.
func sourceRole() role {
	return role{"source", "source from regulator tf transcriptionfactor cause parent gene1 node1 variable1 protein1 name1 row"}
}

func targetRole() role {
	return role{"target", "target to gene targetgene regulated effect child gene2 node2 variable2 protein2 name2 column"}
}

func scoreRole() role {
	return role{"score", "score weight importance confidence value strength rank combinedscore probability"}
}

func labelRole() role {
	return role{"label", "label class edge interaction gold goldstandard truth true positive present"}
}

func (r role) matches(name string) bool {
	plain := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return -1
	}, name)
	for known := range strings.FieldsSeq(r.names) {
		if plain == known {
			return true
		}
	}
	return false
}

// find returns the first column that has the role, other than those taken.
func (r role) find(names []string, taken ...int) int {
next:
	for i, n := range names {
		for _, t := range taken {
			if i == t {
				continue next
			}
		}
		if r.matches(n) {
			return i
		}
	}
	return -1
}

// isHeader is the rule by which the first line of a text list is taken for a
// header: its third cell is neither a number nor a way to write that there is
// none; or it has two cells, one of them a known name for a source and the
// other for a target. Names with a digit do not count there: simulated
// variables may well be called gene1 and gene2.
func isHeader(cells []string) bool {
	if len(cells) >= 3 {
		return !isValue(cells[2])
	}
	if len(cells) < 2 || strings.ContainsAny(cells[0]+cells[1], "0123456789") {
		return false
	}
	s := sourceRole().find(cells)
	return s >= 0 && targetRole().find(cells, s) >= 0
}

// isValue reports whether a cell is a number, true or false, or missing.
func isValue(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil || errors.Is(err, strconv.ErrRange) || cell == "true" || cell == "false" || isMissing(cell)
}

// openList opens a list of pairs; third is the role of a third column that
// has no known name.
func openList(ctx context.Context, path string, o ListOptions, third role) (*pairList, error) {
	t, err := openTable(ctx, path, SampleOptions{Format: o.Format, Stdin: o.Stdin, Records: o.Records, Root: o.Root, Stores: o.Stores, Memory: o.Memory, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	l := &pairList{table: t, interned: make(map[string]string)}
	if err := l.layOut(third.what); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *pairList) layOut(third string) error {
	names := l.columnNames()
	if len(names) < 2 {
		return fault(l.src.name, "the table has one column; a list of pairs has at least two, source and target")
	}
	header := l.text == nil || isHeader(names)
	l.source, l.target, l.score, l.label = 0, 1, -1, -1
	if header {
		l.byName(names)
	}
	if l.score < 0 && l.label < 0 && len(names) >= 3 {
		if len(names) > 3 && (!header || third == labelRole().what) {
			return fault(l.src.name, "the table has %d columns and none is known to hold a %s; keep source, target and %s", len(names), third, third)
		}
		if len(names) == 3 {
			l.third(third)
		}
	}
	if l.text == nil {
		return nil
	}
	if second := l.text.second; second != nil && len(second) != len(names) {
		return &InputError{Path: l.src.name, Line: l.text.trim.lineOf(1),
			Reason: fmt.Sprintf("the line has %d cells and the one before it %d", len(second), len(names))}
	}
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		if !header {
			n = strconv.Itoa(i + 1)
		}
		fields[i] = arrow.Field{Name: n, Type: arrow.BinaryTypes.String}
	}
	const chunk = 16 << 10
	l.records = l.text.records(arrow.NewSchema(fields, nil), header, chunk, l.mem)
	return nil
}

// third gives the column that is neither source nor target its role.
func (l *pairList) third(what string) {
	free := 3 - l.source - l.target
	if what == labelRole().what {
		l.label = free
	} else {
		l.score = free
	}
}

func (l *pairList) byName(names []string) {
	s := sourceRole().find(names)
	t := targetRole().find(names, s)
	switch {
	case s >= 0 && t >= 0:
		l.source, l.target = s, t
	case s >= 0: // the other is the first column that is left
		l.source = s
		l.target = 0
		if s == 0 {
			l.target = 1
		}
	case t >= 0:
		l.target = t
		l.source = 0
		if t == 0 {
			l.source = 1
		}
	}
	l.score = scoreRole().find(names, l.source, l.target)
	l.label = labelRole().find(names, l.source, l.target, l.score)
}

// A moreColumn is one of a list's beside those of its roles.
type moreColumn struct {
	name string
	at   int
}

// keepMore has the rows of a list that this package has written come with the columns of
// the names given that the list has.
func (l *pairList) keepMore(wanted []string) {
	names := l.columnNames()
	if !isConfidentTable(names) {
		return
	}
	for _, name := range wanted {
		if at := slices.Index(names, name); at >= 0 {
			l.more = append(l.more, moreColumn{name, at})
		}
	}
}

// A pair is a row of a list. Numbers that the list has no column for are NaN.
type pair struct {
	source, target string
	score, label   float64
	more           []float64 // of the columns kept, until the next row
}

// each calls f with every row in the order of the file.
func (l *pairList) each(f func(row int, p pair) error) error {
	for {
		record, err := l.records.read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := batch.Guard(func() error { return l.batch(record, f) }); err != nil {
			return l.src.explain(err, "table")
		}
		l.rows += int(record.NumRows())
	}
}

// lineBytes is about what a line of a list takes: two strings, numbers, and an
// entry in a map that knows repeated lines.
const lineBytes = 200

func (l *pairList) batch(record arrow.Record, f func(row int, p pair) error) error {
	source, target := texts(record.Column(l.source)), texts(record.Column(l.target))
	score, label := absent, absent
	var err error
	if l.score >= 0 {
		if score, err = l.numbers(record, l.score); err != nil {
			return err
		}
	}
	if l.label >= 0 {
		if label, err = l.numbers(record, l.label); err != nil {
			return err
		}
	}
	more, values := make([]func(int) (float64, error), len(l.more)), make([]float64, len(l.more))
	for k, c := range l.more {
		if more[k], err = l.numbers(record, c.at); err != nil {
			return err
		}
	}
	if err := l.src.counter.Keep((lineBytes + 8*int64(len(more))) * record.NumRows()); err != nil {
		return err
	}
	for i := range int(record.NumRows()) {
		row := l.rows + i
		p := pair{source: l.intern(source(i)), target: l.intern(target(i)), more: values}
		for side, name := range [2]string{p.source, p.target} {
			if name == "" || !utf8.ValidString(name) {
				column := record.ColumnName([2]int{l.source, l.target}[side])
				return l.fault(row, column, "the name of the %s is empty or not UTF-8", [2]string{"source", "target"}[side])
			}
		}
		if p.score, err = score(i); err != nil {
			return l.fault(row, record.ColumnName(l.score), "the score %w; every score must be a finite number", err)
		}
		if p.label, err = label(i); err != nil {
			return l.fault(row, record.ColumnName(l.label), "the label %w; a label is 0 or 1", err)
		}
		for k, value := range more {
			if values[k], err = value(i); err != nil {
				return l.fault(row, l.more[k].name, "the value %w; every number must be finite", err)
			}
		}
		if err := f(row, p); err != nil {
			return err
		}
	}
	return nil
}

func absent(int) (float64, error) { return math.NaN(), nil }

// intern returns one copy of every name: a batch's memory goes, and lists
// repeat their names.
func (l *pairList) intern(s string) string {
	if kept, ok := l.interned[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	l.interned[s] = s
	return s
}

// numbers returns a function that reads a column as finite numbers, be it
// numeric, boolean or text.
func (l *pairList) numbers(record arrow.Record, column int) (func(i int) (float64, error), error) {
	a := record.Column(column)
	switch {
	case isNumber(a.DataType()):
		return func(i int) (float64, error) {
			var v [1]float64
			if fill(v[:], 1, a, i, 1, false) >= 0 {
				return 0, errors.New("is missing or infinite")
			}
			return v[0], nil
		}, nil
	case isText(a.DataType()), a.DataType().ID() == arrow.BOOL:
		text := texts(a)
		return func(i int) (float64, error) { return parseNumber(text(i)) }, nil
	}
	e := unusableType(l.src.name, record.Schema().Field(column))
	e.Advice.Option = "" // a list has no id column
	return nil, e
}

func parseNumber(s string) (float64, error) {
	switch s {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	case "":
		return 0, errors.New("is missing")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v-v != 0 {
		return 0, fmt.Errorf("is %q", clip(s))
	}
	return v, nil
}

// fault is an InputError of a row, counted from 0.
func (l *pairList) fault(row int, column, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &InputError{Path: l.src.name, Column: column, Row: row + 1, Line: l.records.line(row), Reason: err.Error()}
}
