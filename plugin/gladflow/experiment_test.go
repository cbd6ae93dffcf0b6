package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/experiment"
)

func TestExperimentList(t *testing.T) {
	code, stdout, stderr := gladflow(t, "experiment", "--list")
	if code != exitDone || stderr != "" {
		t.Fatalf("code %d, %s", code, stderr)
	}
	for _, name := range experiment.Names() {
		if !strings.Contains(stdout, "\n"+name+" ") {
			t.Errorf("%s is not in\n%s", name, stdout)
		}
	}
}

func TestExperimentQuick(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	code, stdout, stderr := gladflow(t, "experiment", "admm-objective", "--quick", "--out", out)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if !strings.HasPrefix(stdout, "# admm-objective: ") || !strings.Contains(stdout, "| ρ | least NMSE (dB) |") {
		t.Errorf("prints\n%s", stdout)
	}
	if !strings.HasPrefix(stderr, "admm-objective: admm-objective.parquet, ") {
		t.Errorf("standard error %q", stderr)
	}
	if names := noTemporaries(t, out); len(names) != 4 {
		t.Errorf("files %v", names)
	}
	text, err := os.ReadFile(filepath.Join(out, "admm-objective.md"))
	if err != nil || string(text) != stdout {
		t.Errorf("the file differs from what is printed (%v)", err)
	}
}

func TestExperimentRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		"NAME is missing":              {},
		"did you mean admm-grid?":      {"admm-gird"},
		`"auc" is too much`:            {"auc", "--all"},
		"--document: the document is":  {"auc", "--document", "x.md"},
		"--seed: -1 is negative":       {"auc", "--seed", "-1"},
		"--network: auc reads none":    {"auc", "--network", "x.sif"},
		"--network: ecoli-subnetwork":  {"ecoli-subnetwork"},
		"--engine: \"mkl\" is unknown": {"auc", "--engine", "mkl"},
	} {
		code, _, stderr := gladflow(t, append([]string{"experiment"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: code %d, %s; want %q", args, code, stderr, want)
		}
	}
}
