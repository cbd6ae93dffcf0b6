package experiment

import (
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
)

// A table gathers the rows of a Report's Columns. Every row has a value for every
// column: a string, an int or a float64, of one type a column.
type table struct {
	names   []string
	columns []any
}

func newTable(names ...string) *table {
	return &table{names: names, columns: make([]any, len(names))}
}

// add appends a row. A row of another shape is a programmer's mistake.
func (t *table) add(values ...any) {
	if len(values) != len(t.names) {
		panic(fmt.Sprintf("experiment: a row of %d values for the columns %v", len(values), t.names))
	}
	for i, v := range values {
		switch v := v.(type) {
		case string:
			t.columns[i] = extend(t.columns[i], v)
		case int:
			t.columns[i] = extend(t.columns[i], int64(v))
		case float64:
			t.columns[i] = extend(t.columns[i], v)
		default:
			panic(fmt.Sprintf("experiment: column %q has no values of type %T", t.names[i], v))
		}
	}
}

func extend[T any](column any, v T) []T {
	if column == nil {
		return []T{v}
	}
	return append(column.([]T), v)
}

// done are the columns.
func (t *table) done() []arrowio.Column {
	columns := make([]arrowio.Column, len(t.names))
	for i, n := range t.names {
		columns[i] = arrowio.Column{Name: n, Values: t.columns[i]}
	}
	return slices.Clip(columns)
}
