package recovery_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// What the schema allows a run takes, and what it does not a run refuses.
func TestSchemaAndRunAgree(t *testing.T) {
	text, err := recovery.Schema()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("job.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("job.json")
	if err != nil {
		t.Fatal(err)
	}
	for fields, taken := range map[string]bool{
		``: true,

		`"threads": 1`:          true,
		`"threads": 1.0`:        true,
		`"threads": 1e1`:        true,
		`"threads": 0`:          true,
		`"threads": -0.0`:       true,
		`"threads": null`:       true,
		`"threads": 1.5`:        false,
		`"threads": -1`:         false,
		`"threads": "1"`:        false,
		`"threads": [1]`:        false,
		`"threads": true`:       false,
		`"samples": 30.0`:       true, // of a covariance; refused below for samples
		`"iteration_limit": 10`: true,
		`"iteration_limit": {}`: false,

		`"labels": null`:                       true,
		`"labels": {}`:                         true,
		`"labels": {"a": "b"}`:                 true,
		`"labels": {"a": 1}`:                   true,
		`"labels": {"a": 1.50}`:                true,
		`"labels": {"a": true}`:                true,
		`"labels": {"a": null}`:                false,
		`"labels": {"a": ["b"]}`:               false,
		`"labels": {"a b": "c"}`:               false,
		`"labels": {"": "c"}`:                  false,
		`"labels": "a=b"`:                      false,
		`"labels": ["a=b"]`:                    false,
		`"labels": {"` + long(65) + `": ""}`:   false,
		`"labels": {"a": "` + long(257) + `"}`: false,

		`"solvers": "bcd"`:          true,
		`"solvers": "bcd,am"`:       true,
		`"solvers": " bcd , am "`:   true,
		`"solvers": ["bcd", "am"]`:  true,
		`"solvers": null`:           true,
		`"solvers": "cbd"`:          false,
		`"solvers": "bcd am"`:       false,
		`"solvers": ["cbd"]`:        false,
		`"solvers": [1]`:            false,
		`"solvers": 1`:              false,
		`"solvers": true`:           false,
		`"solvers": {"bcd": true}`:  false,
		`"solvers": [["bcd"]]`:      false,
		`"solvers": [null]`:         false,
		`"solvers": ["bcd", "bcd"]`: false,

		`"penalty": 0.2`:             true,
		`"penalty": "0.2"`:           true,
		`"penalty": "ebic"`:          true,
		`"penalty": null`:            true,
		`"penalty": "edges:200"`:     true,
		`"penalty": "edges:0"`:       false,
		`"penalty": "edges"`:         false,
		`"select": "stars"`:          true,
		`"select": "star"`:           false,
		`"select_gamma": 0.5`:        true,
		`"select_gamma": 1.5`:        false,
		`"select_resamples": -1`:     false,
		`"penalty": -1`:              false,
		`"penalty": "-1"`:            false,
		`"penalty": "eibc"`:          false,
		`"penalty": [0.2]`:           false,
		`"penalty": true`:            false,
		`"shrinkage": 0.5`:           true,
		`"shrinkage": "0.5"`:         true,
		`"shrinkage": 1.5`:           false,
		`"shrinkage": "ledoit-wolf"`: true,

		`"undirected": true`:    true, // only with a reference; see below
		`"json": null`:          true,
		`"json": false`:         true,
		`"json": 1`:             false,
		`"json": 0`:             false,
		`"json": "true"`:        false,
		`"gap": 1e-5`:           true,
		`"gap": null`:           true,
		`"gap": "1e-5"`:         false,
		`"gap": -1`:             false,
		`"time_limit": "90s"`:   true,
		`"time_limit": "1h30m"`: true,
		`"time_limit": null`:    true,
		`"time_limit": 90`:      false,
		`"time_limit": "90"`:    false,
		`"time_limit": "-90s"`:  false,

		`"report": "a/b.html"`:  true,
		`"report": "b.htm"`:     false,
		`"report": "b.html.gz"`: false,
		`"id_column": "id"`:     true,
		`"id_column": 5`:        true,
		`"id_column": null`:     true,
		`"id_column": ["id"]`:   false,
		`"device": "auto"`:      true,
		`"device": "cpu"`:       true,
		`"device": null`:        true,
		`"device": "gpu"`:       false,
		`"device": "cuda:"`:     false,
		`"device": "cuda:x"`:    false,
		`"device": "cuda:01"`:   false,
		`"device": "cuda:1000"`: false,
		`"device": 0`:           false,

		`"divisor": "m-1"`: true,
		`"divisor": null`:  true,
		`"divisor": "n"`:   false,
		`"edges": "top:5"`: true,
		`"edges": "top:0"`: false,
		`"format": "csv"`:  true,
		`"format": null`:   true,
		`"format": "xls"`:  false,
		`"unknown": 1`:     false,
		`"unknown": null`:  false,
	} {
		if strings.HasPrefix(fields, `"samples"`) {
			fields += `, "input_kind": "covariance"`
		}
		if strings.HasPrefix(fields, `"undirected"`) {
			fields += `, "reference": "r.csv"`
		}
		text := `{"input": "x.csv"}`
		if fields != "" {
			text = `{"input": "x.csv", ` + fields + `}`
		}
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if err := schema.Validate(document); (err == nil) != taken {
			t.Errorf("%.100s: by the schema %v", text, err)
		}
		j, err := job.Read(strings.NewReader(text))
		if err == nil {
			err = recovery.Validate(j)
		}
		if (err == nil) != taken {
			t.Errorf("%.100s: by the run %v", text, err)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }
