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

// Flags that need no value take one all the same, several of them beside each other.
func TestFlagsWithOptionalValues(t *testing.T) {
	table := file(t, "table.csv", expression())
	for args, want := range map[string][]string{
		"--stability 3 " + table:                              {`"stability": 3`},
		table + " --stability 3":                              {`"stability": 3`},
		table + " --stability":                                {`"stability": 50`},
		table + " --stability=4 --p-values":                   {`"stability": 4`, `"p_values": "auto"`},
		"--stability 3 " + table + " --p-values desparsified": {`"stability": 3`, `"p_values": "desparsified"`},
		"--p-values desparsified --stability 3 " + table:      {`"stability": 3`, `"p_values": "desparsified"`},
	} {
		words := append([]string{"recover", "--id-column", "id", "--solvers", "bcd", "--penalty", "0.3", "--json"}, strings.Fields(args)...)
		code, stdout, stderr := gladflow(t, words...)
		for _, text := range want {
			if code != exitDone || !strings.Contains(stdout, text) {
				t.Errorf("%s: code %d, want %s\n%s%s", args, code, text, stdout, stderr)
			}
		}
	}
}
