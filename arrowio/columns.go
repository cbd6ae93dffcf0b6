package arrowio

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// namesKey is the key of a list column's metadata under which the names of
// its elements stand, as a JSON array.
const namesKey = "gladflow.names"

// mostVariables bounds what a corrupt list type can ask for; a matrix of so
// many rows and columns would need a petabyte.
const mostVariables = 1 << 24

// Sentences that several readers share.

func missingValue(found string) string {
	return found + ": the value is missing, and missing values are not accepted; remove the row or the column, or impute the value"
}

func notNumbers(path, what, column string) *InputError {
	return columnFault(path, column, "the column holds %s, not numbers", what).
		advise(labels(column, "if it labels the rows, pass %s, otherwise remove it", "remove it"))
}

func unusableType(path string, f arrow.Field) *InputError {
	return columnFault(path, f.Name, "columns of type %s cannot be read", f.Type).
		advise(labels(f.Name, "convert it to float64 or remove it, or if it labels the rows pass %s", "convert it to float64 or remove it"))
}

// clip keeps what a message quotes readable.
func clip(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// isText reports whether a type holds strings, in whatever encoding.
func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return true
	case arrow.DICTIONARY:
		return isText(t.(*arrow.DictionaryType).ValueType)
	}
	return false
}

// isNumber reports whether fill can read a type.
func isNumber(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.FLOAT64, arrow.FLOAT32,
		arrow.INT64, arrow.INT32, arrow.INT16, arrow.INT8,
		arrow.UINT64, arrow.UINT32, arrow.UINT16, arrow.UINT8:
		return true
	}
	return false
}

// isSampleList reports whether a column holds a whole sample in every row.
func isSampleList(t arrow.DataType) bool {
	list, ok := t.(*arrow.FixedSizeListType)
	return ok && (list.Elem().ID() == arrow.FLOAT64 || list.Elem().ID() == arrow.FLOAT32)
}

// listNames are the names of the elements of a list column.
func listNames(path string, f arrow.Field) ([]string, error) {
	size := int(f.Type.(*arrow.FixedSizeListType).Len())
	if size < 1 || size > mostVariables {
		return nil, columnFault(path, f.Name, "a sample of %d values cannot be read", size)
	}
	if text, ok := f.Metadata.GetValue(namesKey); ok {
		var names []string
		if err := json.Unmarshal([]byte(text), &names); err != nil {
			return nil, columnFault(path, f.Name, "the metadata %s is not a JSON array of strings", namesKey)
		}
		if len(names) != size {
			return nil, columnFault(path, f.Name, "the metadata %s has %d names for lists of %d values", namesKey, len(names), size)
		}
		return names, nil
	}
	names := make([]string, size)
	for i := range names {
		names[i] = "v" + strconv.Itoa(i)
	}
	return names, nil
}

// fill writes rows from to from+n of a numeric column to dst[0],
// dst[stride], … and returns the position, counted from 0 in dst, of the
// first value that is null, NaN or infinite; −1 if all are finite. With keep nulls
// become NaN, and only infinite values count.
func fill(dst []float64, stride int, a arrow.Array, from, n int, keep bool) int {
	bad := fillValues(dst, stride, a, from, n)
	if a.NullN() > 0 {
		for i := range n {
			if a.IsNull(from + i) {
				dst[i*stride] = math.NaN()
				if bad < 0 || bad > i {
					bad = i
				}
			}
		}
	}
	if !keep || bad < 0 {
		return bad
	}
	for i := bad; i < n; i++ {
		if math.IsInf(dst[i*stride], 0) {
			return i
		}
	}
	return -1
}

// fillValues is fill without a look at nulls.
func fillValues(dst []float64, stride int, a arrow.Array, from, n int) int {
	switch a := a.(type) {
	case *array.Float64:
		return scatter(dst, stride, a.Float64Values()[from:from+n])
	case *array.Float32:
		return scatter(dst, stride, a.Float32Values()[from:from+n])
	case *array.Int64:
		return scatter(dst, stride, a.Int64Values()[from:from+n])
	case *array.Int32:
		return scatter(dst, stride, a.Int32Values()[from:from+n])
	case *array.Int16:
		return scatter(dst, stride, a.Int16Values()[from:from+n])
	case *array.Int8:
		return scatter(dst, stride, a.Int8Values()[from:from+n])
	case *array.Uint64:
		return scatter(dst, stride, a.Uint64Values()[from:from+n])
	case *array.Uint32:
		return scatter(dst, stride, a.Uint32Values()[from:from+n])
	case *array.Uint16:
		return scatter(dst, stride, a.Uint16Values()[from:from+n])
	case *array.Uint8:
		return scatter(dst, stride, a.Uint8Values()[from:from+n])
	}
	panic("arrowio: fill of a column of type " + a.DataType().String())
}

type number interface {
	~float64 | ~float32 | ~int64 | ~int32 | ~int16 | ~int8 | ~uint64 | ~uint32 | ~uint16 | ~uint8
}

func scatter[T number](dst []float64, stride int, values []T) int {
	bad := -1
	for i, v := range values {
		x := float64(v)
		if x-x != 0 && bad < 0 { // NaN or infinite
			bad = i
		}
		dst[i*stride] = x
	}
	return bad
}

// fillList writes rows from to from+n of a list column to dst, row-major, and
// returns the row and the element of the first value that is not finite; a
// row of −1 if all are, an element of −1 if the whole row is null. For keep see fill.
func fillList(dst []float64, a *array.FixedSizeList, from, n int, keep bool) (row, element int) {
	size := int(a.DataType().(*arrow.FixedSizeListType).Len())
	for i := range n {
		if a.IsNull(from + i) {
			if !keep {
				return i, -1
			}
			for j := range size {
				dst[i*size+j] = math.NaN()
			}
			continue
		}
		start, end := a.ValueOffsets(from + i)
		if int(end-start) != size || int(end) > a.ListValues().Len() {
			return i, -1
		}
		if bad := fill(dst[i*size:], 1, a.ListValues(), int(start), size, keep); bad >= 0 {
			return i, bad
		}
	}
	return -1, -1
}

// texts returns a function that reads a column as strings, whatever its type;
// a null is the empty string. The strings may lie in the column's memory.
func texts(a arrow.Array) func(i int) string {
	return func(i int) string {
		if a.IsNull(i) {
			return ""
		}
		return a.ValueStr(i)
	}
}
