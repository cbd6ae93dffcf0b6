package arrowio

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Every advice names its option as the caller calls it, and is left out where
// the option cannot be set.
func TestAdvice(t *testing.T) {
	plain := func(name, value string) string { return name + "=" + value }
	for name, test := range map[string]struct {
		text          string
		o             SampleOptions
		with, without string
	}{
		"not a number": {"id,x\na,1\n", SampleOptions{}, "if the column labels the rows, pass id_column=id, otherwise remove it", "remove the column or put a number"},
		"no name":      {",x\n1,1\n2,2\n", SampleOptions{}, "name it, or if it labels the rows pass id_column=#1", "name it"},
		"longer line":  {"x,y\na,1,2\n", SampleOptions{}, "if the first of them labels the row, pass id_column=#1", ""},
		"one sample":   {"x,y\n1,2\n", SampleOptions{}, "rows are samples unless orientation=columns is given", "rows are samples"},
		"no variables": {"id,s1,s2\n", SampleOptions{Orientation: Columns}, "with orientation=columns rows are variables", "rows are variables"},
	} {
		for fixed, want := range map[bool]string{false: test.with, true: test.without} {
			o := test.o
			o.Stdin = strings.NewReader(test.text)
			if fixed {
				o.Fixed = []string{"id_column", "orientation"}
			}
			_, err := readAll(context.Background(), "-", o)
			var input *InputError
			if !errors.As(err, &input) {
				t.Fatalf("%s: %v", name, err)
			}
			_, got, _ := strings.Cut(input.Text(plain), "; ")
			if got != want {
				t.Errorf("%s, fixed %v: %q, want %q", name, fixed, got, want)
			}
			if (input.Advice.Option == "") != fixed {
				t.Errorf("%s, fixed %v: advice %+v", name, fixed, input.Advice)
			}
		}
	}
	_, _, _, err := ReadSquare(context.Background(), "-", SampleOptions{Stdin: strings.NewReader("x,y\n1,z\n0,1\n"), Fixed: []string{"id_column"}})
	if err == nil || strings.Contains(err.Error(), "IDColumn") {
		t.Error(err)
	}
	path := put(t, "r.parquet", "x,y\n")
	for fixed, want := range map[string]string{"": "check the file or name its format", "input_format": "check the file and the extension of its name"} {
		_, err := ReadReference(context.Background(), path, ListOptions{Fixed: []string{fixed}})
		wantInputError(t, err, "(it does not begin with PAR1); "+want)
	}
}
