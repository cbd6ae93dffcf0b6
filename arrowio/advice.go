package arrowio

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keys of the options that errors advise, as documents have them.
const (
	idColumnOption    = "id_column"
	orientationOption = "orientation"
	formatOption      = "input_format"
)

// An Advice is an option with which an input might be read. It is data, because
// who reads an error sets options in Go, on a command line or in a document, and
// each calls them something else.
type Advice struct {
	// Option is the key of the option in a document: id_column, orientation or
	// input_format. Empty: there is none to set.
	Option string
	// Value is what to set it to; empty where only the user knows.
	Value string
	// With says what to do, with %s for the option and its value.
	With string
	// Without says what to do where the option cannot be set; it may be empty.
	Without string
}

// text is the advice with the option as option calls it.
func (a Advice) text(option func(name, value string) string) string {
	if a.Option == "" {
		return a.Without
	}
	return strings.Replace(a.With, "%s", option(a.Option, a.Value), 1)
}

// goOption is an option as a caller in Go sets it.
func goOption(name, value string) string {
	switch {
	case name == idColumnOption:
		return "SampleOptions.IDColumn = " + strconv.Quote(value)
	case name == orientationOption && value == Columns.String():
		return "SampleOptions.Orientation = Columns"
	}
	return fmt.Sprintf("%s = %q", name, value)
}

// labels advises to name a column, or #N, as the one that labels the rows.
func labels(column, with, without string) Advice {
	return Advice{Option: idColumnOption, Value: column, With: with, Without: without}
}

// lies advises to say that columns are samples.
func lies(with, without string) Advice {
	return Advice{Option: orientationOption, Value: Columns.String(), With: with, Without: without}
}

// isAnother advises to say what format a file has.
func isAnother() Advice {
	return Advice{Option: formatOption, With: "check the file or name its format", Without: "check the file and the extension of its name"}
}

// advised leaves advice out of an error that whoever reads it cannot follow.
func advised(err error, fixed []string) error {
	var e *InputError
	if errors.As(err, &e) && slices.Contains(fixed, e.Advice.Option) {
		e.Advice.Option = ""
	}
	return err
}

// LabelColumn is the column that seems to label the rows of a table, because it has a word
// in the first one; empty if err, of the reading of that table, is not about this.
func LabelColumn(err error) string {
	var wrong *InputError
	if !errors.As(err, &wrong) || wrong.Advice.Option != idColumnOption || wrong.Row > 1 {
		return ""
	}
	return wrong.Advice.Value
}
