package main

import (
	"strings"
	"testing"
)

// --adapt takes a word, or none, before the table or after it; the run prints what it chose.
func TestAdaptFlag(t *testing.T) {
	table := file(t, "table.csv", expression())
	for args, want := range map[string]string{
		"--adapt " + table:                   "weighted by the ",
		table + " --adapt":                   "weighted by the ",
		table + " --adapt equal-scales":      " covariances",
		"--adapt equal-scales " + table:      " covariances",
		table + " --adapt=train":             "trained on the simulated networks most like the table: ",
		"--adapt experts " + table:           "weighted by the ",
		table + " --adapt --threads 1":       "weighted by the ",
		"--adapt train --threads 1 " + table: "trained on the simulated networks",
	} {
		words := append([]string{"recover", "--id-column", "id", "--solvers", "glad"}, strings.Fields(args)...)
		code, stdout, stderr := gladflow(t, words...)
		if code != exitDone || !strings.Contains(stdout, "\nglad: ") || !strings.Contains(stdout, want) {
			t.Errorf("%s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}
