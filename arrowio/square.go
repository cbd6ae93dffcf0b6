package arrowio

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// symmetryTolerance is how far apart aᵢⱼ and aⱼᵢ may lie, relative to the
// larger of |aᵢⱼ|, |aⱼᵢ| and √|aᵢᵢaⱼⱼ|: well above what printing eight
// significant digits loses, well below a difference between two numbers.
const symmetryTolerance = 1e-8

// ReadSquare reads a symmetric d×d matrix, a covariance or correlation or
// what WritePrecision and WriteDensePrecision write: "-" for standard input.
// It returns the names of the variables, the values row-major with both
// triangles equal, and the SHA-256 of the file's bytes in hexadecimal, or that
// of names and values as in Samples.SHA256 for o.Records.
//
// The file has one of three forms: d columns of numbers, named in the header,
// and d rows in the same order, which a first column of text may label; three
// columns row, column and value that list at least one triangle, whose
// diagonal must be complete while other entries not listed are zero; two
// columns, variable and one FixedSizeBinary of d little-endian float64 a row.
// o.Orientation is not used.
//
// Shapes and labels that do not fit, entries that are not finite, and (i, j)
// and (j, i) further apart than 1e-8 relative to the entries and their
// diagonals are InputErrors.
//
// The end of the context ends the reading as in OpenSamples.
func ReadSquare(ctx context.Context, path string, o SampleOptions) (names []string, values []float64, sha256 string, err error) {
	if o.Records != nil {
		return readSquare(ctx, path, o)
	}
	type square struct {
		names  []string
		values []float64
		sha256 string
	}
	s, err := attended(ctx, path, func() (s square, err error) {
		s.names, s.values, s.sha256, err = readSquare(ctx, path, o)
		return s, err
	}, nil)
	return s.names, s.values, s.sha256, err
}

func readSquare(ctx context.Context, path string, o SampleOptions) (names []string, values []float64, sha256 string, err error) {
	defer func() { err = advised(err, o.Fixed) }()
	t, err := openTable(ctx, path, o)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() { t.close() }()
	switch {
	case isLong(t.columnNames()):
		names, values, err = readLong(t, o)
	case isPacked(t):
		names, values, err = readPacked(t, o)
	default:
		names, values, err = readGrid(t, o)
	}
	if err != nil {
		return nil, nil, "", err
	}
	if err := checkNames(t.src.name, names); err != nil {
		return nil, nil, "", err
	}
	if err := symmetrise(ctx, t.src.name, names, values); err != nil {
		return nil, nil, "", t.src.explain(err, "")
	}
	if t.src.stream {
		h := newDigest(names)
		h.add(values)
		return names, values, h.sum(), nil
	}
	if sha256, err = t.src.sum(); err != nil {
		return nil, nil, "", t.src.explain(err, "file")
	}
	return names, values, sha256, nil
}

// symmetrise puts the mean of (i, j) and (j, i) in both places.
func symmetrise(ctx context.Context, path string, names []string, a []float64) error {
	d := len(names)
	for i := range d {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := i + 1; j < d; j++ {
			x, y := a[i*d+j], a[j*d+i]
			scale := max(math.Abs(x), math.Abs(y),
				math.Sqrt(math.Abs(a[i*d+i]))*math.Sqrt(math.Abs(a[j*d+j])))
			if math.Abs(x-y) > symmetryTolerance*scale {
				return fault(path, "entry (%q, %q) is %v and entry (%q, %q) is %v; a covariance is symmetric",
					names[i], names[j], x, names[j], names[i], y)
			}
			mean := x/2 + y/2
			if x == y {
				mean = x
			}
			a[i*d+j], a[j*d+i] = mean, mean
		}
	}
	return nil
}

// readGrid reads the form of d columns.
func readGrid(t *table, o SampleOptions) ([]string, []float64, error) {
	m := &matrix{table: t, list: -1, id: -1, choice: o.selection()}
	if err := m.layOut(o.IDColumn, o.IDColumn == "" && t.firstIsLabels(), nil); err != nil {
		return nil, nil, err
	}
	if err := o.admit(t.src.name, len(m.names)); err != nil {
		return nil, nil, err
	}
	pieces, n, ids, err := m.all()
	if err != nil {
		return nil, nil, err
	}
	d := len(m.names)
	if n != d {
		return nil, nil, fault(t.src.name, "the table has %d rows and %d columns of numbers; a covariance has as many of both", n, d)
	}
	for i, id := range ids {
		if id != m.names[i] {
			return nil, nil, &InputError{Path: t.src.name, Row: i + 1, Line: m.line(i),
				Reason: "the row is labelled " + clip(id) + " and the header has " + clip(m.names[i]) + " in its place; put rows and columns in the same order"}
		}
	}
	if err := t.src.counter.Keep(8 * int64(n) * int64(d)); err != nil {
		return nil, nil, t.src.explain(err, "")
	}
	return m.names, slices.Concat(pieces...), nil
}

// firstIsLabels reports whether the first column labels the rows: it is text
// in the schema or in the first row of a text file, or its header is empty,
// lacking (R) or that of WriteDensePrecision.
func (t *table) firstIsLabels() bool {
	if t.text == nil {
		return isText(t.records.schema().Field(0).Type)
	}
	header, second := t.text.header, t.text.second
	return header[0] == "" || header[0] == "variable" ||
		len(second) > 0 && (!isValue(second[0]) || len(second) == len(header)+1)
}

// isLong recognises the form of three columns.
func isLong(names []string) bool {
	return slices.EqualFunc(names, []string{"row", "column", "value"}, strings.EqualFold)
}

// readLong reads the form of three columns.
func readLong(t *table, o SampleOptions) ([]string, []float64, error) {
	l := &pairList{table: t, interned: make(map[string]string)}
	if err := l.layOut(scoreRole().what); err != nil {
		return nil, nil, err
	}
	index := make(map[string]int)
	var names []string
	place := func(name string) int {
		i, ok := index[name]
		if !ok {
			i = len(names)
			index[name] = i
			names = append(names, name)
		}
		return i
	}
	type entry struct{ i, j, row int }
	at := make(map[[2]int]int)
	var entries []entry
	var list []float64
	err := l.each(func(row int, p pair) error {
		e := entry{place(p.source), place(p.target), row}
		if k, ok := at[[2]int{e.i, e.j}]; ok && list[k] != p.score {
			return l.fault(row, "", "the entry (%q, %q) is %v here and %v before; keep one", p.source, p.target, p.score, list[k])
		}
		at[[2]int{e.i, e.j}] = len(list)
		entries = append(entries, e)
		list = append(list, p.score)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	d := len(names)
	if d == 0 {
		return nil, nil, fault(t.src.name, "the matrix has no entries")
	}
	if err := o.admit(t.src.name, d); err != nil {
		return nil, nil, err
	}
	if err := t.src.counter.Keep(8 * int64(d) * int64(d)); err != nil {
		return nil, nil, t.src.explain(err, "")
	}
	// The order of the variables is that of the diagonal: the rows of an
	// upper triangle name columns before their own rows come.
	order := make([]int, 0, d)
	placed := make([]bool, d)
	for _, e := range entries {
		if e.i == e.j && !placed[e.i] {
			placed[e.i] = true
			order = append(order, e.i)
		}
	}
	for i, ok := range placed {
		if !ok {
			return nil, nil, fault(t.src.name, "the diagonal entry of %q is not listed; list every variance", names[i])
		}
	}
	position := make([]int, d)
	sorted := make([]string, d)
	for k, i := range order {
		position[i] = k
		sorted[k] = names[i]
	}
	values := make([]float64, d*d)
	for k, e := range entries {
		if k%(1<<16) == 0 {
			if err := t.src.ctx.Err(); err != nil {
				return nil, nil, t.src.explain(err, "")
			}
		}
		i, j := position[e.i], position[e.j]
		values[i*d+j] = list[k]
		if _, both := at[[2]int{e.j, e.i}]; !both {
			values[j*d+i] = list[k]
		}
	}
	return sorted, values, nil
}

// isPacked recognises the form of one FixedSizeBinary a row.
func isPacked(t *table) bool {
	if t.text != nil {
		return false
	}
	f := t.records.schema().Fields()
	return len(f) == 2 && isText(f[0].Type) && f[1].Type.ID() == arrow.FIXED_SIZE_BINARY
}

// grownBytes is what a byte takes of a slice that grows by appending: while it is
// copied the old memory is there too.
const grownBytes = 2

// readPacked reads the form of one FixedSizeBinary a row.
func readPacked(t *table, o SampleOptions) ([]string, []float64, error) {
	f := t.records.schema().Field(1)
	width := f.Type.(*arrow.FixedSizeBinaryType).ByteWidth
	d := width / 8
	if err := o.admit(t.src.name, d); err != nil {
		return nil, nil, err
	}
	var names []string
	var values []float64
	for {
		record, err := t.records.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		err = batch.Guard(func() error {
			name, rows := texts(record.Column(0)), record.Column(1).(*array.FixedSizeBinary)
			if err := t.src.counter.Keep(grownBytes * int64(rows.Len()) * int64(width)); err != nil {
				return err
			}
			for i := range rows.Len() {
				names = append(names, strings.Clone(name(i)))
				if rows.IsNull(i) || len(rows.Value(i)) != width {
					return &InputError{Path: t.src.name, Column: f.Name, Row: len(names), Reason: missingValue("null")}
				}
				for b := rows.Value(i); len(b) >= 8; b = b[8:] {
					v := math.Float64frombits(binary.LittleEndian.Uint64(b))
					if v-v != 0 {
						return &InputError{Path: t.src.name, Column: f.Name, Row: len(names), Reason: "an entry of the row is not finite"}
					}
					values = append(values, v)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, t.src.explain(err, "table")
		}
	}
	if width%8 != 0 || len(names) != d {
		return nil, nil, fault(t.src.name, "the table has %d rows of %d bytes; %d variables need rows of %d", len(names), width, len(names), 8*len(names))
	}
	return names, values, nil
}
