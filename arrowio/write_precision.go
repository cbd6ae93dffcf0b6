package arrowio

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Matrix is a symmetric matrix by rows; *dense.Sym is one.
type Matrix interface {
	Len() int            // d
	Row(i int) []float64 // of length d, not to be modified
}

// A SparseMatrix is a symmetric matrix of which zeros are not held; *solver.Sparse is one.
type SparseMatrix interface {
	Len() int // d
	// Diagonal is the diagonal, and Row the columns, ascending, and the values of the entries
	// of row i above it that are not zero; they are not to be modified.
	Diagonal() []float64
	Row(i int) (columns []int32, values []float64)
}

// checkShape panics over names that are not those of a: no input causes it.
func checkShape(names []string, a Matrix) {
	if a.Len() != len(names) {
		panic(fmt.Sprintf("arrowio: %d names for a %d×%d matrix", len(names), a.Len(), a.Len()))
	}
}

// A Precision is a precision matrix to be written.
type Precision struct {
	// Names are those of the variables, as many as the matrix has rows.
	Names []string
	// Values is Θ, or its sparse part Z.
	Values Matrix
	// Sparse, if set, is in place of Values. It cannot be written Dense.
	Sparse SparseMatrix
	// Dense writes every entry. Default: the upper triangle without zeros.
	Dense bool
}

// Columns are PrecisionColumns, or DensePrecisionColumns of a dense one.
func (p Precision) Columns() []Column {
	if p.Dense {
		return DensePrecisionColumns(p.Names, p.Values)
	}
	if p.Sparse != nil {
		return sparsePrecisionColumns(p.Names, p.Sparse)
	}
	return PrecisionColumns(p.Names, p.Values)
}

// sparsePrecisionColumns are PrecisionColumns of a.
func sparsePrecisionColumns(names []string, a SparseMatrix) []Column {
	var row, column []string
	var value []float64
	for i, v := range a.Diagonal() {
		row, column, value = append(row, names[i]), append(column, names[i]), append(value, v)
		columns, values := a.Row(i)
		for k, j := range columns {
			row, column = append(row, names[i]), append(column, names[j])
			value = append(value, values[k])
		}
	}
	return []Column{{"row", row}, {"column", column}, {"value", value}}
}

// textColumns are Columns for text, which has no bytes: of a dense matrix the
// column variable and a column for every variable.
func (p Precision) textColumns() []Column {
	if !p.Dense {
		return p.Columns()
	}
	checkShape(p.Names, p.Values)
	columns := []Column{{"variable", p.Names}}
	for j, name := range p.Names {
		// The matrix is symmetric: row j is column j.
		columns = append(columns, Column{name, p.Values.Row(j)})
	}
	return columns
}

// WritePrecision writes PrecisionColumns in one of PrecisionFormats. ReadSquare
// reads them back, whatever is zero.
func WritePrecision(path, format string, names []string, a Matrix, metadata map[string]string) error {
	return PrecisionFormats().write(path, format, Precision{Names: names, Values: a}, metadata)
}

// WriteDensePrecision writes every entry: as Parquet and Arrow
// DensePrecisionColumns, as CSV the column variable and a column for every
// variable. ReadSquare reads all three back.
func WriteDensePrecision(path, format string, names []string, a Matrix, metadata map[string]string) error {
	return PrecisionFormats().write(path, format, Precision{Names: names, Values: a, Dense: true}, metadata)
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
