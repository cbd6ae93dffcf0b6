package main

import (
	"strings"
	"testing"
)

// --adapt takes a word, or none, before the table or after it; the run says what it chose.
func TestAdaptFlag(t *testing.T) {
	table := file(t, "table.csv", expression())
	for args, want := range map[string]string{
		"--adapt " + table:                   "experts",
		table + " --adapt":                   "experts",
		table + " --adapt equal-scales":      "equal-scales",
		"--adapt equal-scales " + table:      "equal-scales",
		table + " --adapt=train":             "train",
		"--adapt experts " + table:           "experts",
		table + " --adapt --threads 1":       "experts",
		"--adapt train --threads 1 " + table: "train",
	} {
		words := append([]string{"recover", "--id-column", "id", "--solvers", "glad", "--json"}, strings.Fields(args)...)
		code, stdout, stderr := gladflow(t, words...)
		if code != exitDone || !strings.Contains(stdout, `"adapt": "`+want+`"`) || !strings.Contains(stdout, `"adapted": {`) {
			t.Errorf("%s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	code, stdout, stderr := gladflow(t, "recover", "--id-column", "id", "--solvers", "glad", "--adapt", table)
	if code != exitDone || !strings.Contains(stdout, "\nglad: mean of ") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}
