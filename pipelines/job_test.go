package pipelines

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

// The document, its schema and the flags are three views of one struct.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, document := range []any{&Job{}, &Evaluation{}} {
		schema := schemaOf(document)
		typ := reflect.TypeOf(document).Elem()
		fields := Fields(document)
		if len(fields) != typ.NumField() || schema.Properties.Len() != typ.NumField() {
			t.Fatalf("%s has %d fields, %d are described and %d in the schema", typ, typ.NumField(), len(fields), schema.Properties.Len())
		}
		for i, f := range fields {
			if f.Description == "" || f.Key == "" || strings.Contains(f.Flag, "_") {
				t.Errorf("%s.%s is described as %+v", typ, typ.Field(i).Name, f)
			}
			if p, ok := schema.Properties.Get(f.Key); !ok || p.Description != f.Description {
				t.Errorf("the schema of %s lacks %q or its description", typ, f.Key)
			}
		}
	}
}

func TestSchemaIsStrict(t *testing.T) {
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		AdditionalProperties *bool
		Required             []string
		Properties           map[string]struct {
			Type    any
			Enum    []any
			Default any
			Items   struct{ Enum []string }
			OneOf   []map[string]any
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if s.AdditionalProperties == nil || *s.AdditionalProperties {
		t.Error("unknown keys are allowed")
	}
	if !reflect.DeepEqual(s.Required, []string{"input"}) {
		t.Errorf("required: %v", s.Required)
	}
	if got := s.Properties["solvers"]; !reflect.DeepEqual(got.Items.Enum, SolverNames()) || !reflect.DeepEqual(got.Default, []any{"glad", "bcd"}) {
		t.Errorf("solvers: %+v", got)
	}
	if got := s.Properties["penalty"]; len(got.OneOf) != 2 || got.Default != "ebic" {
		t.Errorf("penalty: %+v", got)
	}
	if got := s.Properties["gap"]; got.Default != 1e-6 {
		t.Errorf("gap: %+v", got)
	}
	if got := s.Properties["population"]; !reflect.DeepEqual(got.Enum, []any{"labelled", "all"}) {
		t.Errorf("population: %+v", got)
	}
}

func TestZeroValueIsTheDefault(t *testing.T) {
	got := Job{Input: "x.csv", Reference: "r.csv"}.Resolved()
	want := Job{
		Input: "x.csv", InputKind: "samples", Orientation: "rows", Correlation: "pearson", Divisor: "m", Shrinkage: "0",
		Solvers: []string{"glad", "bcd"}, Model: "general", Penalty: "ebic", Gap: 1e-6, IterationLimit: 100_000,
		Reference: "r.csv", Population: "labelled", Format: "parquet", Edges: "support", Precision: "sparse",
		Units: "standardised", Engine: "auto", Device: "auto",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

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
		Solvers:          rapid.SliceOfNDistinct(rapid.SampledFrom(SolverNames()), 0, 5, rapid.ID).Draw(t, "solvers"),
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
		Device:           pick("device", "", "cpu"),
		JSON:             rapid.Bool().Draw(t, "json"),
	}
	if len(j.Solvers) == 0 {
		j.Solvers = nil
	}
	if j.samplesGiven() {
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
			t.Fatalf("the generator's fault: %v", err)
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
			back, err := ReadJob(bytes.NewReader(document))
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
	got, err := ReadJob(strings.NewReader(yaml))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	const json = "{\n\t\"input\": \"\\ud83e\\uddec.csv\",\n\t\"penalty\": \"ebic\",\n\t\"solvers\": [\"am\"]\n}\n"
	want = Job{Input: "🧬.csv", Penalty: "ebic", Solvers: []string{"am"}}
	got, err = ReadJob(strings.NewReader(json))
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
		_, err := ReadJob(strings.NewReader(c.document))
		var wrong *JobError
		if !errors.As(err, &wrong) {
			t.Errorf("%q: error %v, want a JobError", name, err)
			continue
		}
		if wrong.Field != c.field || wrong.Line != c.line || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%q: field %q, line %d, reason %q; want %q, %d, %q", name, wrong.Field, wrong.Line, wrong.Reason, c.field, c.line, c.reason)
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	covariance := Job{Input: "x", InputKind: KindCovariance, Samples: 30}
	for _, c := range []struct {
		field, reason string
		job           Job
	}{
		{"input", "no table", Job{}},
		{"input_kind", "choose samples, covariance or correlation", Job{Input: "x", InputKind: "file.csv"}},
		{"samples", "negative", Job{Input: "x", Samples: -1}},
		{"samples", "counted", Job{Input: "x", Samples: 30}},
		{"samples", "missing", Job{Input: "x", InputKind: KindCovariance}},
		{"samples", "missing", Job{Input: "x", InputKind: KindCorrelation, Samples: 1}},
		{"orientation", "unknown", Job{Input: "x", Orientation: "sideways"}},
		{"orientation", "no orientation", with(covariance, func(j *Job) { j.Orientation = "columns" })},
		{"correlation", "needs the samples", with(covariance, func(j *Job) { j.Correlation = "spearman" })},
		{"divisor", "divided already", with(covariance, func(j *Job) { j.Divisor = "m-1" })},
		{"shrinkage", "needs the samples", with(covariance, func(j *Job) { j.Shrinkage = "ledoit-wolf" })},
		{"shrinkage", "weight from 0 to 1", Job{Input: "x", Shrinkage: "1.5"}},
		{"shrinkage", "weight from 0 to 1", Job{Input: "x", Shrinkage: "NaN"}},
		{"solvers", "unknown", Job{Input: "x", Solvers: []string{"glad", "foo"}}},
		{"solvers", "twice", Job{Input: "x", Solvers: []string{"bcd", "bcd"}}},
		{"penalty", "negative", Job{Input: "x", Penalty: "-0.1"}},
		{"penalty", "neither", Job{Input: "x", Penalty: "NaN"}},
		{"penalty", "neither", Job{Input: "x", Penalty: "Inf"}},
		{"penalty", "neither", Job{Input: "x", Penalty: "bic"}},
		{"penalty", "leave one out", Job{Input: "x", Penalty: "0.1", PenaltyMatrix: "y"}},
		{"gap", "negative", Job{Input: "x", Gap: -1}},
		{"gap", "not finite", Job{Input: "x", Gap: math.NaN()}},
		{"time_limit", "negative", Job{Input: "x", TimeLimit: -1}},
		{"iteration_limit", "negative", Job{Input: "x", IterationLimit: -1}},
		{"admm_lambda", "not finite", Job{Input: "x", ADMMLambda: math.Inf(1)}},
		{"am_lambda", "negative", Job{Input: "x", AMLambda: -1}},
		{"population", "unknown", Job{Input: "x", Reference: "y", Population: "some"}},
		{"population", "no reference", Job{Input: "x", Population: "all"}},
		{"undirected", "no reference", Job{Input: "x", Undirected: true}},
		{"reference", "standard input", Job{Input: "-", Reference: "-"}},
		{"penalty_matrix", "standard input", Job{Input: "-", PenaltyMatrix: "-"}},
		{"format", "unknown", Job{Input: "x", Format: "xlsx"}},
		{"edges", "top:N", Job{Input: "x", Edges: "top:0"}},
		{"edges", "top:N", Job{Input: "x", Edges: "top:many"}},
		{"edges", "top:N", Job{Input: "x", Edges: "some"}},
		{"units", "original units", Job{Input: "x", InputKind: KindCorrelation, Samples: 9, Units: UnitsOriginal}},
		{"engine", "choose auto, openblas or gonum", Job{Input: "x", Engine: "mkl"}},
		{"device", "no GPU", Job{Input: "x", Device: "cuda"}},
	} {
		err := c.job.Validate()
		var wrong *JobError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%+v: error %v; want %q of field %s", c.job, err, c.reason, c.field)
		}
	}
}

func with(j Job, change func(*Job)) Job {
	change(&j)
	return j
}

func TestFigureHasAJSONForm(t *testing.T) {
	data, err := json.Marshal([]Figure{1.5, Figure(math.NaN()), Figure(math.Inf(1))})
	if err != nil || string(data) != "[1.5,null,null]" {
		t.Fatalf("%s, %v", data, err)
	}
	var back []Figure
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
		j, err := ReadJob(bytes.NewReader(document))
		if err != nil {
			var wrong *JobError
			if !errors.As(err, &wrong) {
				t.Fatalf("%q: %v is no JobError", document, err)
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
