package training

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/solver/glad"
)

// A model that was fine-tuned has other cells than those its edge head was fitted to: the head
// is gone, and the result says so. Before and after are compared without it.
func TestFineTuningLeavesTheHead(t *testing.T) {
	m, err := glad.Builtin("grid")
	if err != nil {
		t.Fatal(err)
	}
	m.Edge = glad.Network{Inputs: []glad.Feature{glad.EdgeCorrelation}, Layers: []glad.Layer{{Weights: [][]float64{{-1}}, Bias: []float64{0}, Activation: glad.Identity}}}
	m.Card.Edges = &glad.EdgeCard{Tables: 1}
	folder := t.TempDir()
	from := filepath.Join(folder, "from.json")
	f, err := os.Create(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	d := job.Training{Family: "er", Dimension: job.Counts{8}, Samples: job.Counts{20}, Graphs: 4, ValidationGraphs: 2, Steps: 10, Seed: 1, From: from, Out: filepath.Join(folder, "to.json"), Engine: "gonum", Device: "cpu"}
	r, err := Run(context.Background(), d, Host{})
	if err != nil {
		t.Fatal(err)
	}
	to, err := recovery.OpenModel("model", d.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := r.Step == 0 // the start was the best
	warned := strings.Contains(strings.Join(r.Warnings, " "), "gladflow train edges")
	if to.HasEdgeHead() != kept || (to.Card.Edges != nil) != kept || warned == kept {
		t.Errorf("best at step %d, head %v, warnings %q", r.Step, to.HasEdgeHead(), r.Warnings)
	}
	// The head ranks the wrong way round: with it the start would have had another AUROC.
	if r.Before == nil || float64(r.Before.Metrics.Get("auroc")) < 0.5 {
		t.Errorf("before: %+v", r.Before)
	}
}
