package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

// many are n labels.
func many(n int) map[string]string {
	all := make(map[string]string)
	for i := range n {
		all[fmt.Sprint("k", i)] = "v"
	}
	return all
}

func TestLabels(t *testing.T) {
	one := func(key, value string) map[string]string { return map[string]string{key: value} }
	for what, test := range map[string]struct {
		labels map[string]string
		want   string // in the error; empty for none
	}{
		"none":                {nil, ""},
		"all kinds":           {map[string]string{"team": "blue", "a/b.c-d_E9": "", "run": "é 🧬 = \"x\" \\n '#' ~"}, ""},
		"as many as may be":   {many(32), ""},
		"too many":            {many(33), "there are 33; give 32 at most"},
		"longest":             {one(strings.Repeat("k", 64), strings.Repeat("v", 256)), ""},
		"a key too long":      {one(strings.Repeat("k", 65), ""), "65 bytes; choose one of 64"},
		"a value too long":    {one("k", strings.Repeat("v", 257)), "257 bytes; give 256"},
		"bytes, not letters":  {one("k", strings.Repeat("é", 129)), "258 bytes; give 256"},
		"no key":              {one("", "v"), "no key"},
		"a blank in the key":  {one("a b", "v"), `"a b" has other characters`},
		"an equals sign":      {one("a=b", "v"), "other characters"},
		"a letter beyond":     {one("clé", "v"), "other characters"},
		"a line in the key":   {one("a\nb", "v"), `"a\nb"`},
		"a line":              {one("k", "a\nb"), `"a\nb", has characters that cannot be printed`},
		"a carriage return":   {one("k", "a\rb"), "cannot be printed"},
		"an escape":           {one("k", "\x1b[31m"), "cannot be printed"},
		"an escape of C1":     {one("k", "\u009b31m"), "cannot be printed"},
		"a NUL":               {one("k", "\x00"), "cannot be printed"},
		"a tab":               {one("k", "\t"), "cannot be printed"},
		"text turned around":  {one("k", "\u202egnp.exe"), "cannot be printed"},
		"a line of Unicode":   {one("k", "a\u2028b"), "cannot be printed"},
		"nothing to be seen":  {one("k", "a\u200bb"), "cannot be printed"},
		"no UTF-8":            {one("k", "a\xff"), "not UTF-8"},
		"the first of errors": {map[string]string{"b b": "", "a a": ""}, `"a a"`},
	} {
		err := Job{Input: "x", Labels: test.labels}.Validate()
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Field != "labels" || !strings.Contains(wrong.Reason, test.want) {
			t.Errorf("%s: %v, want %q", what, err, test.want)
			continue
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: the error has what cannot be printed: %q", what, err)
		}
	}
}

// The text of a label is what stands there, whatever YAML takes it for.
func TestLabelsOfADocument(t *testing.T) {
	want := map[string]string{"team": "blue", "build": "1_000", "day": "2026-01-01", "version": "1.10", "on": "true", "empty": "", "path/a.b": "x: y"}
	for _, document := range []string{
		"input: x\nlabels:\n  team: blue\n  build: 1_000\n  day: 2026-01-01\n  version: 1.10\n  on: true\n  empty: ''\n  path/a.b: \"x: y\"\n",
		"input: x\nlabels: {team: blue, build: 1_000, day: 2026-01-01, version: 1.10, on: true, empty: '', path/a.b: 'x: y'}\n",
		`{"input": "x", "labels": {"team": "blue", "build": "1_000", "day": "2026-01-01", "version": 1.10, "on": true, "empty": "", "path/a.b": "x: y"}}`,
	} {
		j, err := Read(strings.NewReader(document))
		if err != nil || !maps.Equal(j.Labels, want) {
			t.Errorf("%s\n%v, %q", document, err, j.Labels)
		}
	}
	for _, document := range []string{"input: x\nlabels: {}\n", "input: x\nlabels:\n", `{"input":"x","labels":{}}`, `{"input":"x","labels":null}`} {
		if j, err := Read(strings.NewReader(document)); err != nil || len(j.Labels) != 0 {
			t.Errorf("%s: %v, %q", document, err, j.Labels)
		}
	}
	if text, err := json.Marshal(Job{Input: "x"}); err != nil || strings.Contains(string(text), "labels") {
		t.Errorf("a job without labels is %s, %v", text, err)
	}
}

// A flag adds one label, and never to the job that was copied.
func TestSetLabels(t *testing.T) {
	var j Job
	for _, text := range []string{"a=b", "c=d=e", "f="} {
		if err := Set(&j, "labels", text); err != nil {
			t.Fatal(err)
		}
	}
	copied := j
	if err := Set(&copied, "labels", "more=1"); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"a": "b", "c": "d=e", "f": ""}; !reflect.DeepEqual(j.Labels, want) {
		t.Errorf("labels %q, want %q", j.Labels, want)
	}
	for text, want := range map[string]string{"a": "write it as KEY=VALUE", "a=x": "there twice", "": "KEY=VALUE"} {
		var wrong *Error
		if err := Set(&j, "labels", text); !errors.As(err, &wrong) || wrong.Field != "labels" || !strings.Contains(wrong.Reason, want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
