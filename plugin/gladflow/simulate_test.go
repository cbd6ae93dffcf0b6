package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/pipelines/simulation"
)

// The command that simulate proposes works, word for word.
func TestSimulateThenRecover(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := gladflow(t, "simulate", "er", "--dimension", "20", "--samples", "500", "--seed", "7",
		"--density", ".2", "--weights", "-1:1", "--smallest-eigenvalue", ".5", "--out", out)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"er p=0.2, d=20, weights U[-1, 1) sym, smallest eigenvalue 0.5; seed 7\n500 samples each\n",
		"er.parquet  er.precision.parquet  er.reference.csv",
		"files in " + out + ", with simulate.json\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if stderr[:strings.Index(stderr, "(")] != "simulating: 1 network with 500 samples each " {
		t.Errorf("standard error %q", stderr)
	}
	_, next, _ := strings.Cut(stdout, "try next:\n")
	words := strings.Fields(next)
	if len(words) < 2 || words[0] != "gladflow" {
		t.Fatalf("proposes %q", next)
	}
	if code, stdout, stderr = gladflow(t, words[1:]...); code != exitDone || !strings.Contains(stdout, "190 pairs") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	if names := noTemporaries(t, out); len(names) != 5 {
		t.Errorf("files %v", names)
	}
}

func TestSimulateJSON(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := gladflow(t, "simulate", "grid", "--dimension", "9", "--graphs", "2", "--symmetrisation", "avg", "--format", "csv", "--out", out, "--json")
	var r simulation.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil {
		t.Fatalf("code %d, %v\n%s", code, err, stderr)
	}
	if len(r.Networks) != 2 || r.Networks[1].Edges != 12 || r.Networks[1].Samples != "grid-2.csv" || r.Family.Symmetrisation != "avg" {
		t.Errorf("%+v", r)
	}
	written, err := os.ReadFile(filepath.Join(out, "simulate.json"))
	if err != nil || string(written) != stdout {
		t.Errorf("simulate.json differs from what is printed (%v)", err)
	}
}

func TestSimulateUsage(t *testing.T) {
	for args, want := range map[string]string{
		"simulate":                               "FAMILY is missing; write gladflow simulate FAMILY",
		"simulate er":                            "--out: no folder is named",
		"simulate rgn --out x":                   `family: "rgn" is unknown; choose er, grid,`,
		"simulate er --out x --weights 1:-1":     "--weights: -1 is below the lower end 1",
		"simulate er --out x --density 7":        "--density: 7 is no probability",
		"simulate er --out x --groups 2":         "--groups: the family er has none; leave this out",
		"simulate er --out x --samples some":     `--samples: "some" is not a whole number`,
		"simulate er --out x --format tsv":       "--format: \"tsv\" is unknown; choose parquet, arrow or csv",
		"simulate er --out " + os.DevNull + "/x": "--out: the folder cannot be made",
	} {
		code, stdout, stderr := gladflow(t, strings.Fields(args)...)
		first, _, _ := strings.Cut(stderr, "\n")
		if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "gladflow: ") || !strings.Contains(first, want) {
			t.Errorf("gladflow %s: code %d, prints %q and %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// Help lists the families by hand, with a line on each.
func TestHelpListsTheFamilies(t *testing.T) {
	for _, command := range []string{"simulate", "train"} {
		_, help, _ := gladflow(t, command, "--help")
		_, list, _ := strings.Cut(help, "FAMILY is")
		list, _, _ = strings.Cut(list, "Usage:")
		words := strings.FieldsFunc(list, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') })
		for _, family := range simulate.Graphs() {
			if !slices.Contains(words, family) {
				t.Errorf("the help of %s lacks the family %s", command, family)
			}
		}
	}
}

// The command that simulate genes proposes works, word for word, and what it writes
// can be simulated from again.
func TestSimulateGenesThenRecover(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := gladflow(t, "simulate", "genes", "--genes", "30", "--samples", "80", "--regulators", "8", "--decoys", "2", "--out", out)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{"syntren; seed 0\n80 samples each\n", "syntren.parquet  syntren.network.parquet     30           0 ", "files in " + out + ", with genes.json\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	_, next, _ := strings.Cut(stdout, "try next:\n")
	words := strings.Fields(next)
	if len(words) < 2 || words[0] != "gladflow" {
		t.Fatalf("proposes %q", next)
	}
	if code, _, stderr = gladflow(t, words[1:]...); code != exitDone {
		t.Errorf("code %d\n%s", code, stderr)
	}
	code, stdout, stderr = gladflow(t, "simulate", "genes", "--network", filepath.Join(out, "syntren.network.sif"), "--samples", "20", "--out", t.TempDir(), "--json")
	var r simulation.GeneResult
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || r.Sets[0].Variables != 30 {
		t.Errorf("code %d, %v, %+v\n%s", code, err, r, stderr)
	}
}

// Help lists the families of genes by hand, with a line on each.
func TestHelpListsTheFamiliesOfGenes(t *testing.T) {
	_, help, _ := gladflow(t, "simulate", "genes", "--help")
	for _, family := range genes.Families() {
		if !strings.Contains(help, "\n  "+family+" ") {
			t.Errorf("the help lacks the family %s", family)
		}
	}
}
