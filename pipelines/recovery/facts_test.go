package recovery

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

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
	if got := s.Properties["penalty"]; len(got.OneOf) != 5 || got.Default != "refit" {
		t.Errorf("penalty: %+v", got)
	}
	if got := s.Properties["gap"]; got.Default != 1e-6 {
		t.Errorf("gap: %+v", got)
	}
	if got := s.Properties["population"]; !reflect.DeepEqual(got.Enum, []any{"labelled", "all", nil}) {
		t.Errorf("population: %+v", got)
	}
}

func TestZeroValueIsTheDefault(t *testing.T) {
	got := Resolved(job.Job{Input: "x.csv", Reference: "r.csv"})
	want := job.Job{
		Input: "x.csv", InputKind: "samples", Orientation: "rows", Transform: "none", Constant: "error", Missing: "error", Correlation: "pearson", RankingCorrelation: "normal-scores", Divisor: "m", Shrinkage: "0",
		Solvers: []string{"glad", "bcd"}, Model: "general", RankingModel: "gene", Penalty: "refit", Gap: 1e-6, IterationLimit: 100_000,
		Reference: "r.csv", Population: "labelled", Format: "parquet", Edges: "support", Precision: "sparse",
		Units: "standardised", Engine: "auto", Device: "auto",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// With a list of regulators the models are those that have learned with lists.
func TestModelsOfRegulators(t *testing.T) {
	if j := Resolved(job.Job{Regulators: "r.txt"}); j.Model != "gene-regulators" || j.RankingModel != "gene-directed" {
		t.Errorf("%s and %s", j.Model, j.RankingModel)
	}
	if j := Resolved(job.Job{Regulators: "r.txt", Model: "general", RankingModel: "gene"}); j.Model != "general" || j.RankingModel != "gene" {
		t.Errorf("%s and %s", j.Model, j.RankingModel)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	covariance := job.Job{Input: "x", InputKind: job.KindCovariance, Samples: 30}
	for _, c := range []struct {
		field, reason string
		job           job.Job
	}{
		{"input", "no table", job.Job{}},
		{"input_kind", "choose samples, covariance or correlation", job.Job{Input: "x", InputKind: "file.csv"}},
		{"samples", "negative", job.Job{Input: "x", Samples: -1}},
		{"samples", "counted", job.Job{Input: "x", Samples: 30}},
		{"samples", "missing", job.Job{Input: "x", InputKind: job.KindCovariance}},
		{"samples", "missing", job.Job{Input: "x", InputKind: job.KindCorrelation, Samples: 1}},
		{"orientation", "unknown", job.Job{Input: "x", Orientation: "sideways"}},
		{"orientation", "no orientation", with(covariance, func(j *job.Job) { j.Orientation = "columns" })},
		{"correlation", "needs the samples", with(covariance, func(j *job.Job) { j.Correlation = "spearman" })},
		{"divisor", "divided already", with(covariance, func(j *job.Job) { j.Divisor = "m-1" })},
		{"shrinkage", "needs the samples", with(covariance, func(j *job.Job) { j.Shrinkage = "ledoit-wolf" })},
		{"shrinkage", "weight from 0 to 1", job.Job{Input: "x", Shrinkage: "1.5"}},
		{"shrinkage", "weight from 0 to 1", job.Job{Input: "x", Shrinkage: "NaN"}},
		{"solvers", "unknown", job.Job{Input: "x", Solvers: []string{"glad", "foo"}}},
		{"solvers", "twice", job.Job{Input: "x", Solvers: []string{"bcd", "bcd"}}},
		{"penalty", "negative", job.Job{Input: "x", Penalty: "-0.1"}},
		{"penalty", "neither", job.Job{Input: "x", Penalty: "NaN"}},
		{"penalty", "neither", job.Job{Input: "x", Penalty: "Inf"}},
		{"penalty", "neither", job.Job{Input: "x", Penalty: "least"}},
		{"penalty", "leave one out", job.Job{Input: "x", Penalty: "0.1", PenaltyMatrix: "y"}},
		{"gap", "negative", job.Job{Input: "x", Gap: -1}},
		{"gap", "not finite", job.Job{Input: "x", Gap: math.NaN()}},
		{"time_limit", "negative", job.Job{Input: "x", TimeLimit: -1}},
		{"iteration_limit", "negative", job.Job{Input: "x", IterationLimit: -1}},
		{"admm_lambda", "not finite", job.Job{Input: "x", ADMMLambda: math.Inf(1)}},
		{"am_lambda", "negative", job.Job{Input: "x", AMLambda: -1}},
		{"population", "unknown", job.Job{Input: "x", Reference: "y", Population: "some"}},
		{"population", "no reference", job.Job{Input: "x", Population: "all"}},
		{"undirected", "no reference", job.Job{Input: "x", Undirected: true}},
		{"reference", "standard input", job.Job{Input: "-", Reference: "-"}},
		{"penalty_matrix", "standard input", job.Job{Input: "-", PenaltyMatrix: "-"}},
		{"format", "unknown", job.Job{Input: "x", Format: "xlsx"}},
		{"edges", "top:N", job.Job{Input: "x", Edges: "top:0"}},
		{"edges", "top:N", job.Job{Input: "x", Edges: "top:many"}},
		{"edges", "top:N", job.Job{Input: "x", Edges: "some"}},
		{"units", "original units", job.Job{Input: "x", InputKind: job.KindCorrelation, Samples: 9, Units: job.UnitsOriginal}},
		{"engine", "choose auto, openblas or gonum", job.Job{Input: "x", Engine: "mkl"}},
		{"device", "choose auto, cpu, cuda or cuda:N", job.Job{Input: "x", Device: "gpu"}},
		{"device", "unknown", job.Job{Input: "x", Device: "cuda:-1"}},
		{"device", "unknown", job.Job{Input: "x", Device: "cuda:01"}},
		{"device", "unknown", job.Job{Input: "x", Device: "cuda:1000"}},
		{"device", "unknown", job.Job{Input: "x", Device: "cuda:"}},
	} {
		err := Validate(c.job)
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(wrong.Reason, c.reason) {
			t.Errorf("%+v: error %v; want %q of field %s", c.job, err, c.reason, c.field)
		}
	}
}

func with(j job.Job, change func(*job.Job)) job.Job {
	change(&j)
	return j
}

// The words of a field stand in its description, in help as in the schema.
func TestDescriptionsHoldTheWords(t *testing.T) {
	fields := job.Fields(&job.Job{}, Facts())
	penalty := fields[slices.IndexFunc(fields, func(f job.Field) bool { return f.Key == "penalty" })]
	want := "a number, edges:N for the one that leaves N edges, or " + job.OneOf(Facts().Words["penalty"]) + " to choose it from the data"
	schema, err := Schema()
	if err != nil || !strings.Contains(penalty.Description, want) || !strings.Contains(string(schema), want) {
		t.Errorf("%q and the schema (%v) lack %q", penalty.Description, err, want)
	}
}
