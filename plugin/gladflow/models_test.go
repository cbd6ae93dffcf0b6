package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
)

// The card is for people, and with --json for programs.
func TestCard(t *testing.T) {
	code, stdout, stderr := gladflow(t, "models", "--card", "constant-untrained")
	if code != exitDone || stderr != "" || !strings.HasPrefix(stdout, "constant-untrained\n  about        ") ||
		!strings.Contains(stdout, "\n  trained      no, its weights were set by hand\n") || strings.Contains(stdout, "seed") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = gladflow(t, "models", "--card", "constant-untrained", "--json")
	var m job.ModelInfo
	if err := json.Unmarshal([]byte(stdout), &m); code != exitDone || err != nil || m.Name != "constant-untrained" {
		t.Errorf("code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	var b strings.Builder
	printCard(&b, job.ModelInfo{Name: "m", Kind: string(glad.GLAD), Iterations: 30, Parameters: 54, Card: glad.Card{
		Trained: true, Family: "er p=0.1", Dimension: glad.Counts{100}, Samples: glad.Counts{20, 500}, Graphs: 10, Loss: "of Z", Steps: 160,
		Validation: map[string]any{"nmse_db": -10.123456, "selected_by": "nmse"}, Backend: "OpenBLAS", Command: "gladflow train er --out m.json",
	}})
	const want = `m
  kind         glad, 30 cells, 54 parameters
  family       er p=0.1
  variables    100
  samples      20,500
  graphs       10
  loss         of Z
  steps        160
  seed         0
  validation   nmse_db -10.123
               selected_by nmse
  computed on  OpenBLAS
  command      gladflow train er --out m.json
`
	if b.String() != want {
		t.Errorf("prints\n%swant\n%s", b.String(), want)
	}
}
