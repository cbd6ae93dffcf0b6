package arrowio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// An Edge is a row of an edge list.
type Edge struct {
	// Source and Target are the names of the variables.
	Source, Target string
	// Score ranks the edge, highest first: |Θij|/√(ΘiiΘjj) unless the run's
	// metadata say otherwise.
	Score float64
	// Precision is Θij, in the units of S⁻¹.
	Precision float64
	// PartialCorrelation is −Θij/√(ΘiiΘjj). Its sign is the column sign.
	PartialCorrelation float64
}

// compareEdges orders edges by descending score, and ties by names, so that
// the file does not depend on the order in which a solver found them.
func compareEdges(a, b Edge) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// WriteEdges writes EdgeColumns. Formats, metadata and the care taken are those
// of WriteTable.
func WriteEdges(path, format string, edges []Edge, metadata map[string]string) error {
	return WriteTable(path, format, EdgeColumns(edges), metadata)
}

// EdgeColumns are the columns source, target (utf8), score, precision,
// partial_correlation (float64) and sign (int8: −1, 0 or 1), highest score
// first and ties by name, whatever the order of edges, which stays as it is.
func EdgeColumns(edges []Edge) []Column {
	if !slices.IsSortedFunc(edges, compareEdges) {
		edges = slices.Clone(edges)
		slices.SortFunc(edges, compareEdges)
	}
	n := len(edges)
	source, target := make([]string, n), make([]string, n)
	score, precision, partial := make([]float64, n), make([]float64, n), make([]float64, n)
	sign := make([]int8, n)
	for i, e := range edges {
		source[i], target[i] = e.Source, e.Target
		score[i], precision[i], partial[i] = e.Score, e.Precision, e.PartialCorrelation
		switch {
		case e.PartialCorrelation > 0:
			sign[i] = 1
		case e.PartialCorrelation < 0:
			sign[i] = -1
		}
	}
	return []Column{
		{"source", source}, {"target", target}, {"score", score},
		{"precision", precision}, {"partial_correlation", partial}, {"sign", sign},
	}
}

// Matrix is a symmetric matrix by rows; *dense.Sym is one.
type Matrix interface {
	Len() int            // d
	Row(i int) []float64 // of length d, not to be modified
}

// checkShape panics over names that are not those of a: no input causes it.
func checkShape(names []string, a Matrix) {
	if a.Len() != len(names) {
		panic(fmt.Sprintf("arrowio: %d names for a %d×%d matrix", len(names), a.Len(), a.Len()))
	}
}

// WritePrecision writes PrecisionColumns. ReadSquare reads them back, whatever
// is zero.
func WritePrecision(path, format string, names []string, a Matrix, metadata map[string]string) error {
	return WriteTable(path, format, PrecisionColumns(names, a), metadata)
}

// PrecisionColumns are the columns row, column (utf8) and value (float64): the
// upper triangle with the diagonal, row by row, without entries that are zero
// off the diagonal.
func PrecisionColumns(names []string, a Matrix) []Column {
	checkShape(names, a)
	var row, column []string
	var value []float64
	for i, name := range names {
		for j, v := range a.Row(i)[i:] {
			if v != 0 || j == 0 {
				row = append(row, name)
				column = append(column, names[i+j])
				value = append(value, v)
			}
		}
	}
	return []Column{{"row", row}, {"column", column}, {"value", value}}
}

// WriteDensePrecision writes every entry: as Parquet and Arrow
// DensePrecisionColumns, as CSV the column variable and a column for every
// variable. ReadSquare reads all three back.
func WriteDensePrecision(path, format string, names []string, a Matrix, metadata map[string]string) error {
	if format != CSV {
		return WriteTable(path, format, DensePrecisionColumns(names, a), metadata)
	}
	checkShape(names, a)
	columns := []Column{{"variable", names}}
	for j, name := range names {
		// The matrix is symmetric: row j is column j.
		columns = append(columns, Column{name, a.Row(j)})
	}
	return WriteTable(path, format, columns, metadata)
}

// DensePrecisionColumns are the columns variable (utf8) and values
// (FixedSizeBinary of 8d bytes: the row's d float64, little-endian).
//
// The rows are FixedSizeBinary because Arrow 15 needs seconds and gigabytes,
// now and then, to write lists to Parquet; numpy.frombuffer reads them.
func DensePrecisionColumns(names []string, a Matrix) []Column {
	checkShape(names, a)
	d := len(names)
	data := make([]byte, 0, 8*d*d)
	for i := range d {
		for _, v := range a.Row(i) {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
	}
	return []Column{{"variable", names}, {"values", FixedBinary{Width: 8 * d, Data: data}}}
}
