package arrowio

import (
	"fmt"
	"strings"
)

// Orientation says which way a table of samples lies.
type Orientation int

const (
	// Rows: a row is a sample, a column a variable.
	Rows Orientation = iota
	// Columns: a column is a sample, a row a variable. The id column, which
	// is the first unless another is named, holds the names of the variables;
	// the header holds the ids of the samples.
	Columns
)

func (o Orientation) String() string {
	switch o {
	case Rows:
		return "rows"
	case Columns:
		return "columns"
	}
	return fmt.Sprintf("Orientation(%d)", int(o))
}

// ParseOrientation reads "rows" or "columns"; "" is Rows.
func ParseOrientation(s string) (Orientation, error) {
	switch strings.ToLower(s) {
	case "", "rows":
		return Rows, nil
	case "columns":
		return Columns, nil
	}
	return 0, fault("orientation", "%q is neither rows nor columns", s)
}
