package training

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"

	"github.com/gladflow/gladflow/solver/glad/train"
)

func TestTrainingRefuses(t *testing.T) {
	good := job.Training{Family: "er", Out: "x"}
	if err := Validate(good); err != nil {
		t.Fatal(err)
	}
	data := func(r *job.Training) { r.Family, r.Data = "", "folder" }
	for _, c := range []struct {
		field  string
		change func(*job.Training)
	}{
		{"family", func(r *job.Training) { r.Family = "" }},
		{"family", func(r *job.Training) { r.Family = "rgn" }},
		{"data", func(r *job.Training) { r.Data = "folder" }},
		{"dimension", func(r *job.Training) { data(r); r.Dimension = job.Counts{3} }},
		{"weights", func(r *job.Training) { data(r); r.Weights = "0:1" }},
		{"correlation", func(r *job.Training) { r.Correlation = "spearman" }},
		{"correlation", func(r *job.Training) { r.Family, r.Correlation = "mixed", "pearson" }},
		{"correlation", func(r *job.Training) { data(r); r.Correlation = "kendall" }},
		{"validation_part", func(r *job.Training) { r.ValidationPart = 0.5 }},
		{"validation_part", func(r *job.Training) { data(r); r.ValidationPart = 1 }},
		{"dimension", func(r *job.Training) { r.Dimension = job.Counts{10, 1} }},
		{"dimension", func(r *job.Training) { r.Dimension = job.Counts{1e6} }},
		{"samples", func(r *job.Training) { r.Samples = job.Counts{0} }},
		{"samples", func(r *job.Training) { r.Dimension, r.Samples = job.Counts{10}, job.Counts{math.MaxInt} }},
		{"graphs", func(r *job.Training) { r.Graphs = -1 }},
		{"seed", func(r *job.Training) { r.Seed = -1 }},
		{"steps", func(r *job.Training) { r.Steps = -1 }},
		{"density", func(r *job.Training) { r.Density = "2" }},
		{"density", func(r *job.Training) { r.Density = "0.2:0.1" }},
		{"density", func(r *job.Training) { r.Density = "0.1,some" }},
		{"links", func(r *job.Training) { r.Links = 2 }},
		{"weights", func(r *job.Training) { r.Weights = "1:-1" }},
		{"scales", func(r *job.Training) { r.Scales = "-1" }},
		{"neighbours", func(r *job.Training) { r.Family, r.Dimension, r.Neighbours = "small-world", job.Counts{10, 50}, 10 }},
		{"rewiring", func(r *job.Training) { data(r); r.Rewiring = 0.5 }},
		{"architecture", func(r *job.Training) { r.Architecture = "transformer" }},
		{"learning_rate", func(r *job.Training) { r.LearningRate = math.NaN() }},
		{"gamma", func(r *job.Training) { r.Gamma = 2 }},
		{"loss", func(r *job.Training) { r.Loss = "l1" }},
		{"select", func(r *job.Training) { r.Select = "f1" }},
		{"support_cost", func(r *job.Training) { r.SupportCost = "-1" }},
		{"support_cost", func(r *job.Training) { r.SupportCost, r.Select = "0.1", "ps" }},
		{"out", func(r *job.Training) { r.Out = "" }},
		{"out", func(r *job.Training) { r.Out = "folder/" }},
		{"checkpoint", func(r *job.Training) { r.Checkpoint = "x" }},
	} {
		r := good
		c.change(&r)
		var wrong *job.Error
		if err := Validate(r); !errors.As(err, &wrong) || wrong.Field != c.field || wrong.Reason == "" {
			t.Errorf("%+v: %v, want an error about %s", r, err, c.field)
		}
	}
}

// The fields that Simulation has too mean and say the same there.
func TestTrainingFields(t *testing.T) {
	of := func(document any, known job.Facts) map[string]job.Field {
		m := make(map[string]job.Field)
		for _, f := range job.Fields(document, known) {
			if f.Description == "" || strings.HasSuffix(f.Description, ".") {
				t.Errorf("%s is described by %q", f.Key, f.Description)
			}
			m[f.Key] = f
		}
		return m
	}
	trained, simulated := of(&job.Training{}, Facts()), of(&job.Simulation{}, simulation.Facts())
	if a, b := trained["family"].Choices, append(simulated["family"].Choices, simulate.GraphMixed, simulate.GraphStandardised, FamilyGeneRegulators); !slices.Equal(a, b) {
		t.Errorf("the families are %v, of simulate %v", a, b)
	}
	for _, key := range []string{"links", "groups", "bandwidth", "neighbours", "rewiring", "weights", "symmetrisation", "smallest_eigenvalue", "scales"} {
		a, b := trained[key], simulated[key]
		if a.Description != b.Description || a.Default != b.Default || !slices.Equal(a.Choices, b.Choices) || a.Kind != b.Kind {
			t.Errorf("%s is\n%+v and in simulate\n%+v", key, a, b)
		}
	}
	j := of(&job.Job{}, job.Facts{})
	// Tables that a model learns from are treated alike: auto would choose for each.
	correlation := j["correlation"]
	correlation.Choices = slices.DeleteFunc(slices.Clone(correlation.Choices), func(word string) bool { return word == job.CorrelationAuto })
	j["correlation"] = correlation
	for _, key := range []string{"correlation", "orientation", "engine", "device"} {
		if a, b := trained[key], j[key]; a.Default != b.Default || !slices.Equal(a.Choices, b.Choices) {
			t.Errorf("%s is\n%+v and in recover\n%+v", key, a, b)
		}
	}
	if !slices.Equal(trained["architecture"].Choices, train.Architectures()) {
		t.Errorf("architectures %v", trained["architecture"].Choices)
	}
}

// A command line repeats its training; the document in JSON does.
func TestTrainingCommand(t *testing.T) {
	tr := job.Training{
		Family: "scale-free", Dimension: job.Counts{20, 50}, Samples: job.Counts{7}, Weights: "0.2:0.5", Scales: "0.7:1.3", LearningRate: 0.015,
		SupportCost: "none", Select: "auc", Description: "It's a test", Out: "folder/it.json",
	}
	const want = `gladflow train scale-free --dimension 20,50 --samples 7 --weights 0.2:0.5 --scales 0.7:1.3 --learning-rate 0.015 --select auc ` +
		`--support-cost none --description 'It'\''s a test' --out it.json`
	if got := tr.Command(); got != want {
		t.Errorf("command\n%s, want\n%s", got, want)
	}
	with := tr
	with.Gamma, with.Loss, with.Graphs, with.Workers, with.Engine = 0, "z", 10, 3, "auto" // defaults, and what changes nothing
	if got := with.Command(); got != want {
		t.Errorf("command\n%s, want\n%s", got, want)
	}
	if got := with.ResumeCommand(); !strings.Contains(got, "--out folder/it.json --resume --workers 3") {
		t.Errorf("command %s", got)
	}
	data, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	var again job.Training
	if err := json.Unmarshal(data, &again); err != nil || output.JSON(again) != output.JSON(tr) || again.Command() != want {
		t.Errorf("%v: %s", err, data)
	}
}

// A model is known by its shape, whatever its weights and its name.
func TestArchitectureOf(t *testing.T) {
	for _, name := range train.Architectures() {
		r, err := train.NewPreset(name, 3)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Starts[len(r.Starts)-1]
		m.Name = "another"
		if got, like := architectureOf(m); got != name || like != name {
			t.Errorf("%s is taken for %q, with the settings of %q", name, got, like)
		}
		m.Iterations++
		if len(m.Cells) > 1 {
			m.Cells = append(m.Cells, m.Cells[0])
		}
		if got, like := architectureOf(m); got != "" || like == "" {
			t.Errorf("%s with a cell more is taken for %q, with the settings of %q", name, got, like)
		}
	}
}
