package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// jobs are valid.
func jobs(t *rapid.T) Job {
	pick := func(label string, words ...string) string { return rapid.SampledFrom(words).Draw(t, label) }
	path := rapid.StringMatching(`[a-zäß"'#: {}\[\],\\/.0-9-]{0,8}x`)
	j := Job{
		Input:            path.Draw(t, "input"),
		InputKind:        pick("kind", "", KindSamples, KindCovariance, KindCorrelation),
		InputFormat:      pick("input format", "", "csv", "parquet"),
		IDColumn:         pick("id", "", "#1", "name", "007", "true", "~", "a: b"),
		Correlation:      pick("correlation", "", "pearson", "none"),
		Shrinkage:        Value(pick("shrinkage", "", "0", "0.25", "1")),
		Solvers:          rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"glad", "bcd", "gista", "admm", "am"}), 0, 5, rapid.ID).Draw(t, "solvers"),
		Model:            pick("model", "", "model.json"),
		PenaliseDiagonal: rapid.Bool().Draw(t, "diagonal"),
		Gap:              rapid.Float64Range(0, 1).Draw(t, "gap"),
		TimeLimit:        Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "time limit")),
		IterationLimit:   rapid.IntRange(0, 1000).Draw(t, "iteration limit"),
		ADMMLambda:       rapid.Float64Range(0, 100).Draw(t, "admm lambda"),
		Out:              pick("out", "", "out"),
		Format:           pick("format", "", "csv"),
		Edges:            pick("edges", "", "all", "top:12"),
		Precision:        pick("precision", "", "dense"),
		Engine:           pick("engine", "", "gonum", "openblas"),
		Device:           pick("device", "", "auto", "cpu", "cuda", "cuda:3"),
		JSON:             rapid.Bool().Draw(t, "json"),
	}
	if len(j.Solvers) == 0 {
		j.Solvers = nil
	}
	if n := rapid.IntRange(0, 4).Draw(t, "labels"); n > 0 {
		key := rapid.StringMatching(`[A-Za-z0-9_./-]{1,64}`)
		value := rapid.OneOf(rapid.SampledFrom([]string{"", "true", "null", "~", "1_000", "1.10", "0x1F", "a: b", "# no comment", " padded ", "'", `"`, `\n`, "- x", "{}", "é 🧬", "2026-01-01", "|", "&a", "*a", "<<"}),
			rapid.StringMatching(`[ -~éß🧬]{0,20}`))
		j.Labels = rapid.MapOfN(key, value, n, n).Draw(t, "label")
	}
	if j.SamplesGiven() {
		j.Divisor = pick("divisor", "", "m", "m-1")
		j.Orientation = pick("orientation", "", "columns")
	} else {
		j.Samples = rapid.IntRange(2, 1000).Draw(t, "samples")
	}
	if rapid.Bool().Draw(t, "matrix") {
		j.PenaltyMatrix = "matrix.csv"
	} else {
		j.Penalty = Value(pick("penalty", "", "ebic", "0", "0.1", "1e-3"))
	}
	if rapid.Bool().Draw(t, "scored") {
		j.Reference = "r.csv"
		j.Population = pick("population", "", "all")
		j.Undirected = rapid.Bool().Draw(t, "undirected")
	}
	if j.InputKind != KindCorrelation {
		j.Units = pick("units", "", "original")
	}
	return j
}

// run.json holds the resolved job, which must repeat the run.
func TestResolvedIsValidAndFinal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := jobs(t)
		if err := j.Validate(); err != nil {
			t.Fatalf("the generator makes a wrong job: %v", err)
		}
		r := j.Resolved()
		if err := r.Validate(); err != nil {
			t.Fatalf("%+v resolved: %v", j, err)
		}
		if again := r.Resolved(); !reflect.DeepEqual(again, r) {
			t.Fatalf("resolved twice: %+v, once: %+v", again, r)
		}
	})
}

func TestDocumentsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := jobs(t)
		asYAML, err := j.YAML()
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range [][]byte{asYAML, asJSON} {
			back, err := Read(bytes.NewReader(document))
			if err != nil {
				t.Fatalf("%s\n%v", document, err)
			}
			if !sameJob(back, j) {
				t.Fatalf("%s\ngives %+v\nfor   %+v", document, back, j)
			}
		}
	})
}

// sameJob compares values by their numbers: 0.001 is 1e-3.
func sameJob(a, b Job) bool {
	same := func(v, w *Value) bool {
		x, ok := v.Number()
		y, ok2 := w.Number()
		equal := ok && ok2 && x == y || !ok && !ok2 && *v == *w
		*v, *w = "", ""
		return equal
	}
	return same(&a.Penalty, &b.Penalty) && same(&a.Shrinkage, &b.Shrinkage) && reflect.DeepEqual(a, b)
}

func TestReadJob(t *testing.T) {
	const yaml = `# a comment
input: expression.tsv.gz
id_column: 007          # a name, digits and all
solvers: [glad, bcd]    # in this order
penalty: 0.3
time_limit: 1m30s
undirected: true
reference: "known.tsv"
gap: 1e-4
model: ~
`
	want := Job{
		Input: "expression.tsv.gz", IDColumn: "007", Solvers: []string{"glad", "bcd"}, Penalty: "0.3",
		TimeLimit: Duration(90 * time.Second), Undirected: true, Reference: "known.tsv", Gap: 1e-4,
	}
	got, err := Read(strings.NewReader(yaml))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	const json = "{\n\t\"input\": \"\\ud83e\\uddec.csv\",\n\t\"penalty\": \"ebic\",\n\t\"solvers\": [\"am\"]\n}\n"
	want = Job{Input: "🧬.csv", Penalty: "ebic", Solvers: []string{"am"}}
	got, err = Read(strings.NewReader(json))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestReadJobRefuses(t *testing.T) {
	for _, c := range []struct {
		document string
		field    string
		line     int
		reason   string
	}{
		{"input: x\npenlty: 2\n", "penlty", 2, "did you mean penalty?"},
		{"{\n \"input\": \"x\",\n \"penlty\": 2\n}", "penlty", 3, "did you mean penalty?"},
		{"input: x\nfrobnicate: 2\n", "frobnicate", 2, "unknown"},
		{"input: x\ngap: small\n", "gap", 2, "not a number"},
		{"input: x\ngap: \"1e-4\"\n", "gap", 2, "without quotes"},
		{"samples: 1.5\n", "samples", 1, "not a whole number"},
		{"samples: 99999999999999999999\n", "samples", 1, "not a whole number"},
		{"undirected: yes\n", "undirected", 1, "neither true nor false"},
		{"time_limit: 90\n", "time_limit", 1, "90s"},
		{"input: [x]\n", "input", 1, "must be a text"},
		{"penalty: {a: 1}\n", "penalty", 1, "must be"},
		{"solvers: [[glad]]\n", "solvers", 1, "must be a list"},
		{"labels: x\n", "labels", 1, "must be a map of texts"},
		{"labels: [x]\n", "labels", 1, "must be a map of texts"},
		{"labels: {a: {b: c}}\n", "labels", 1, "must be a map of texts"},
		{"{\"labels\": {\"a\": [\"b\"]}}", "labels", 1, "must be a map of texts"},
		{"{\"labels\": {\"a\": null}}", "labels", 1, "must be a map of texts"},
		{"{\"input\": \"x\",\n\"labels\": {\"a\": \"b\", \"a\": \"b\"}}", "labels", 2, "there twice"},
		{"input: {a: b}\n", "input", 1, "must be a text"},
		{"input: &a x\nout: *a\n", "input", 1, "must be"},
		{"{\"input\": \"x\",\n\"input\": \"y\"}", "input", 2, "line 1 already"},
		{"input: x\ninput: y\n", "", 2, "already"},
		{"input: x\n---\ninput: y\n", "", 3, "one job"},
		{"input: 'x\n", "", 1, "quote"},
		{"- input\n", "", 1, "not a job"},
		{"# nothing\n", "", 0, "empty"},
		{"", "", 0, "empty"},
		{strings.Repeat("#", documentLimit+1), "", 0, "larger"},
		{"input: " + strings.Repeat("[", 50_000), "", 0, "brackets"},
	} {
		name := c.document[:min(40, len(c.document))]
		_, err := Read(strings.NewReader(c.document))
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q: error %v, want an *Error", name, err)
			continue
		}
		if wrong.Field != c.field || wrong.Line != c.line || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%q: field %q, line %d, reason %q; want %q, %d, %q", name, wrong.Field, wrong.Line, wrong.Reason, c.field, c.line, c.reason)
		}
	}
}

func TestFloatHasAJSONForm(t *testing.T) {
	data, err := json.Marshal([]Float{1.5, Float(math.NaN()), Float(math.Inf(1))})
	if err != nil || string(data) != "[1.5,null,null]" {
		t.Fatalf("%s, %v", data, err)
	}
	var back []Float
	if err := json.Unmarshal(data, &back); err != nil || back[0] != 1.5 || !math.IsNaN(float64(back[1])) {
		t.Errorf("%v, %v", back, err)
	}
}

func FuzzReadJob(f *testing.F) {
	for _, s := range []string{
		"input: x\npenalty: 0.3\nsolvers: [glad, bcd]\n", `{"input": "x", "time_limit": "2m"}`, "input: |\n  a\n  b\n",
		"solvers:\n- glad\n- \"am\"\n", "a: &b\n  - *b\n", "? x\n: y\n", "input: !!binary aGk=\n", "<<: {input: x}\n", "\xff", "{", "input: .nan\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		j, err := Read(bytes.NewReader(document))
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) {
				t.Fatalf("%q: %v is no *Error", document, err)
			}
			return
		}
		if err := j.Validate(); err != nil {
			return
		}
		if err := j.Resolved().Validate(); err != nil {
			t.Fatalf("%q resolved: %v", document, err)
		}
	})
}
