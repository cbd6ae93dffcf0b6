package page

import "math"

// A Table is rows under titles.
type Table struct {
	// Caption says in a line what it shows.
	Caption string
	Columns []Column
	// Across marks the best figure of every row, of the columns that have one, instead of
	// that of every column, and draws no bars.
	Across bool
	// Rows have a cell a column.
	Rows [][]Cell
}

// A Column is one of a table.
type Column struct {
	// Title stands above it, Hint explains it in a sentence.
	Title, Hint string
	// Number says that its cells are figures.
	Number bool
	// Best marks the best figure, if it is Higher or Lower, and draws bars: their
	// ends are zero and the largest figure.
	Best Best
}

// Best says which figure of a column is the best one.
type Best int

// Kinds of columns.
const (
	Neither Best = iota
	Higher
	Lower
)

// A Cell is one of a table.
type Cell struct {
	Text string
	// Value is the figure behind the text; NaN, as of Words, for none.
	Value float64
}

// Words is a cell without a figure.
func Words(text string) Cell { return Cell{text, math.NaN()} }

// Number is a cell with a figure in a format of fmt: see Figure.
func Number(v float64, format string) Cell { return Cell{Figure(v, format), v} }

// Difference is a cell with a difference in the format, its sign always, and its standard
// error, which is NaN for none.
func Difference(v, standardError float64, format string) Cell {
	c := Number(v, "%+"+format[1:])
	if finite(standardError) {
		c.Text += " ± " + Figure(standardError, format)
	}
	return c
}

// Count is a cell with a whole number.
func Count(n int) Cell { return Number(float64(n), "%.0f") }

// Maximum numbers of rows that are shown.
const maxRows = 2000

// A tableView is a table for the template.
type tableView struct {
	Table
	Rows [][]cellView
	// Left counts rows that are left out.
	Left int
}

// A cellView is a cell for the template.
type cellView struct {
	Cell
	Column
	// Has says that there is a figure, and Bar a bar, of the share Share.
	Has, Bar bool
	Share    float64
	// First is the best of its column.
	First bool
}

func (t *Table) view() *tableView {
	v := &tableView{Table: *t}
	rows := t.Rows
	if len(rows) > maxRows {
		rows, v.Left = rows[:maxRows], len(rows)-maxRows
	}
	best, top := make([]float64, len(t.Columns)), make([]float64, len(t.Columns))
	for k, c := range t.Columns {
		best[k] = math.NaN()
		for _, row := range t.Rows {
			best[k] = c.Best.of(best[k], row[k].Value)
			if finite(row[k].Value) {
				top[k] = math.Max(top[k], row[k].Value)
			}
		}
	}
	for _, row := range rows {
		across := math.NaN()
		for k, cell := range row {
			across = t.Columns[k].Best.of(across, cell.Value)
		}
		cells := make([]cellView, len(row))
		for k, cell := range row {
			c := cellView{Cell: cell, Column: t.Columns[k], Has: finite(cell.Value)}
			switch {
			case !c.Has || c.Best == Neither:
			case t.Across:
				c.First = cell.Value == across
			default:
				c.First = len(t.Rows) > 1 && cell.Value == best[k]
				c.Bar = cell.Value >= 0 && top[k] > 0
				c.Share = cell.Value / top[k]
			}
			cells[k] = c
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// of is the better one of two values, of which the first may be NaN for none yet.
func (b Best) of(x, y float64) float64 {
	if b == Neither || !finite(y) || b == Higher && y <= x || b == Lower && y >= x {
		return x
	}
	return y
}
