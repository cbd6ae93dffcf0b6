package arrowio

import (
	"errors"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// errNoMemory is what a host says that has no memory.
var errNoMemory = errors.New("there is no memory")

// Whoever bounds memory is asked before a table takes it, and the error is that of the
// table, as it is.
func TestMemoryIsAskedFor(t *testing.T) {
	var wide, long strings.Builder
	wide.WriteString("name")
	for i := range 5000 {
		wide.WriteString(",s" + strings.Repeat("x", i/100) + string(rune('a'+i%26)))
	}
	for v := range 400 {
		wide.WriteString("\nv" + strings.Repeat("y", v) + strings.Repeat(",1.5", 5000))
	}
	long.WriteString("row,column,value\n")
	for i := range 300 {
		for j := range i + 1 {
			long.WriteString("v" + strings.Repeat("z", i) + ",v" + strings.Repeat("z", j) + ",")
			long.WriteString(map[bool]string{true: "1\n", false: "0.1\n"}[i == j])
		}
	}
	for name, c := range map[string]struct {
		text  string
		least int64 // that must have been asked for
		read  func(o SampleOptions) error
	}{
		"columns are samples": {wide.String(), 8 * 400 * 5000, func(o SampleOptions) error {
			o.Orientation = Columns
			_, err := readAll(t.Context(), "-", o)
			return err
		}},
		"a list of entries": {long.String(), 8 * 300 * 300, func(o SampleOptions) error {
			_, _, _, err := ReadSquare(t.Context(), "-", o)
			return err
		}},
		"a list of pairs": {long.String(), 100 * 300 * 150, func(o SampleOptions) error {
			_, err := ReadEdges(t.Context(), "-", ListOptions{Format: CSV, Stdin: o.Stdin, Limits: o.Limits})
			return err
		}},
	} {
		var asked int64
		options := func(most int64) SampleOptions {
			asked = 0
			return SampleOptions{Format: CSV, Stdin: strings.NewReader(c.text), Limits: batch.Limits{Reserve: func(more int64) error {
				if asked+more > most {
					return errNoMemory
				}
				asked += more
				return nil
			}}}
		}
		if err := c.read(options(1 << 40)); err != nil || asked < c.least || asked > 20*c.least {
			t.Errorf("%s: %v, and %d bytes were asked for, of at least %d", name, err, asked, c.least)
		}
		if err := c.read(options(asked - 1)); err != errNoMemory {
			t.Errorf("%s, without memory: %v", name, err)
		}
	}
}
