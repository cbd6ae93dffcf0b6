package job

import (
	"reflect"
	"slices"
	"testing"
)

func TestGiven(t *testing.T) {
	tr := Training{Dimension: Counts{5}, Resume: true, Gamma: 0.5, Out: "m.json"}
	if got, want := Given(&tr), []string{"dimension", "gamma", "out", "resume"}; !slices.Equal(got, want) {
		t.Errorf("given are %v, want %v", got, want)
	}
	if got := Given(&Job{}); got != nil {
		t.Errorf("of a zero job %v are given", got)
	}
}

func TestResolveWithFacts(t *testing.T) {
	known := Facts{Defaults: map[string]string{"model": "mine", "penalty": "rule"}}
	j := Job{Input: "x", Gap: 0.5}
	Resolve(&j, known)
	if j.Model != "mine" || j.Penalty != "rule" || j.Gap != 0.5 || j.Format != "parquet" || j.TimeLimit != 0 || !slices.Equal(j.Solvers, []string{"glad", "bcd"}) {
		t.Errorf("%+v", j)
	}
	again := j
	if Resolve(&again, Facts{}); !reflect.DeepEqual(again, j) {
		t.Errorf("resolved again: %+v, want %+v", again, j)
	}
}

// Words that only the program knows are choices, and are checked.
func TestFacts(t *testing.T) {
	known := Facts{Words: map[string][]string{"format": {"parquet", "mine"}, "solvers": {"a", "b"}, "penalty": {"rule"}}}
	fields := make(map[string]Field)
	for _, f := range Fields(&Job{}, known) {
		fields[f.Key] = f
	}
	if f := fields["format"]; !slices.Equal(f.Choices, known.Words["format"]) {
		t.Errorf("format: %+v", f)
	}
	for _, key := range []string{"solvers", "penalty"} { // which may be something else
		if f := fields[key]; f.Choices != nil || !slices.Equal(f.Words, known.Words[key]) {
			t.Errorf("%s: %+v", key, f)
		}
	}
	for field, j := range map[string]Job{
		"":        {Input: "x", Format: "mine", Solvers: []string{"b"}, Penalty: "rule"},
		"format":  {Input: "x", Format: "csv"},
		"solvers": {Input: "x", Solvers: []string{"bcd"}},
		"penalty": {Input: "x", Penalty: "ebic"},
	} {
		err := j.ValidateBy(known)
		if wrong, _ := err.(*Error); (err == nil) != (field == "") || wrong != nil && wrong.Field != field {
			t.Errorf("%+v: %v, want an error about %q", j, err, field)
		}
	}
}

func TestChoices(t *testing.T) {
	for _, c := range []struct {
		document any
		key      string
		want     []string
	}{
		{&Job{}, "engine", []string{EngineAuto, "openblas", "gonum"}},
		{&Job{}, "input_kind", []string{KindSamples, KindCovariance, KindCorrelation}},
		{&Job{}, "precision", []string{PrecisionSparse, PrecisionDense}},
		{&Job{}, "units", []string{UnitsStandardised, UnitsOriginal}},
		{&Evaluation{}, "rank", []string{RankAuto, RankOrder, RankScore}},
	} {
		if got := Choices(c.document, c.key); !slices.Equal(got, c.want) {
			t.Errorf("%s is one of %v, want %v", c.key, got, c.want)
		}
	}
	if got := Choices(&Job{}, "id_column"); got != nil {
		t.Errorf("an id column is one of %v", got)
	}
}

// What an evaluation shares with a job means and says the same.
func TestEvaluationFields(t *testing.T) {
	fields := make(map[string]Field)
	for _, f := range Fields(&Job{}, Facts{}) {
		fields[f.Key] = f
	}
	for _, f := range Fields(&Evaluation{}, Facts{}) {
		if j, ok := fields[f.Key]; ok && f.Key != "reference" && f.Key != "report" && !reflect.DeepEqual(f, j) { // help names recovered networks, and their folder
			t.Errorf("%s is\n%+v and in a job\n%+v", f.Key, f, j)
		}
	}
}
