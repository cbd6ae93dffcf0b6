package job_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/pipelines/training"
)

// FuzzFields sets two fields of a document, as flags and tables of fields do, and
// validates it: an error names a field of the document.
func FuzzFields(f *testing.F) {
	for _, s := range []string{"", "er", "3", "-1", "1e999", "NaN", "0.1:0.4", "20,100,500", "a,b", "true", "2m", "file:///x?y", "-", "s3://b/k", "9223372036854775808", "\xff"} {
		for _, key := range []string{"input", "family", "dimension", "weights", "time_limit", "edges", "penalty", "steps", "out", "edge_list", "population"} {
			f.Add(key, s, "samples", "3", uint8(0))
		}
	}
	f.Add("family", "er", "dimension", "20,100", uint8(1))
	f.Fuzz(func(t *testing.T, key, text, key2, text2 string, which uint8) {
		documents := []struct {
			new      func() any
			validate func(any) error
		}{
			{func() any { return new(job.Job) }, func(d any) error { return recovery.Validate(*d.(*job.Job)) }},
			{func() any { return &job.Training{Family: "er", Out: "x"} }, func(d any) error { return training.Validate(*d.(*job.Training)) }},
			{func() any { return &job.Simulation{Family: "er", Out: "x"} }, func(d any) error { return simulation.Validate(*d.(*job.Simulation)) }},
			{func() any { return &job.GeneSimulation{Out: "x"} }, func(d any) error { return simulation.ValidateGenes(*d.(*job.GeneSimulation)) }},
			{func() any { return &job.Evaluation{EdgeList: "x", Reference: "y"} }, func(d any) error { return d.(*job.Evaluation).Validate() }},
		}
		document := documents[int(which)%len(documents)]
		d := document.new()
		err := job.Set(d, key, text)
		if err == nil {
			err = job.Set(d, key2, text2)
		}
		if err == nil {
			err = document.validate(d)
		}
		if err == nil {
			job.Files(d)
			_, err = json.Marshal(d)
			if err != nil {
				t.Fatalf("%+v is valid and no JSON: %v", d, err)
			}
			return
		}
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Reason == "" {
			t.Fatalf("%q=%q, %q=%q: %T: %v", key, text, key2, text2, err, err)
		}
	})
}

// FuzzResults reads documents that others have written, as hosts do: what is read
// can be written, and is then the same.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"version":"1","solvers":[{"solver":"bcd","metrics":{"auroc":0.5,"aupr":null}}],"input":{"path":"x"}}`), uint8(0))
	f.Add([]byte(`{"edge_list":"x","auroc":0.5,"reference":{}}`), uint8(1))
	f.Add([]byte(`{"auroc":1,"samples":[3,4],"dimension":5}`), uint8(2))
	f.Add([]byte(`{"family":"er","dimension":[1,2],"steps":3,"support_cost":"auto","time_limit":"2m"}`), uint8(3))
	f.Add([]byte(`{"input":"x","penalty":"ebic","solvers":["a"],"time_limit":"90s","gap":1e-3}`), uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		kinds := []func() any{
			func() any { return new(job.Result) },
			func() any { return new(evaluation.Result) },
			func() any { return new(training.Figures) },
			func() any { return new(job.Training) },
			func() any { return new(job.Job) },
			func() any { return new(job.Simulation) },
			func() any { return new(job.GeneSimulation) },
			func() any { return new(job.Evaluation) },
		}
		kind := kinds[int(which)%len(kinds)]
		v := kind()
		if json.Unmarshal(data, v) != nil {
			return
		}
		once, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%+v: %v", v, err)
		}
		again := kind()
		if err := json.Unmarshal(once, again); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Fatalf("%s\nthen %s, %v", once, twice, err)
		}
	})
}
