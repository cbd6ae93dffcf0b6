package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/dream5"
	"github.com/gladflow/gladflow/pipelines/job"
)

// network1 is a folder with network 1 of six genes.
func network1(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"net1_expression_data.tsv":       strings.ReplaceAll(expression(), ",", "\t"),
		"net1_gold_standard.tsv":         chain,
		"net1_transcription_factors.tsv": "g1\ng2\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestDream5(t *testing.T) {
	folder, out := network1(t), t.TempDir()
	args := []string{"dream5", folder, "--solvers", "glad,correlation,ridge", "--resamples", "10", "--out", out}
	code, stdout, stderr := gladflow(t, args...)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"network 1, in silico\nnet1_expression_data.tsv: 40 samples × 6 genes, not the challenge's 805 × 1643",
		"regulators: 2 listed, 2 of them among the genes used\n",
		"\ndirected, labelled: 4 pairs, 2 positive\nsolver ", "\nglad, regulators ", "\nridge, regulators ", "AUROC minus correlation", "AUPR minus ridge",
		"\nundirected, all pairs: 6 pairs, ", "\npublished, on other data than these; directed, labelled\n", "GENIE3 (Other 1) ",
		"files in " + out + ": ", " and dream5.json\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "\nridge  ") {
		t.Errorf("ridge without regulators\n%s", stdout)
	}
	if !strings.Contains(stderr, "glad, regulators: completed") {
		t.Errorf("standard error\n%s", stderr)
	}
	code, stdout, _ = gladflow(t, append(args, "--json")...)
	var r dream5.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || len(r.Solvers) != 5 {
		t.Errorf("code %d, %v, %+v", code, err, r)
	}
}

func TestDream5Refuses(t *testing.T) {
	folder := network1(t)
	for args, want := range map[string]string{
		"dream5":                                "DIR",
		"dream5 " + t.TempDir():                 "no network with its expression data",
		"dream5 " + folder + " --network 3":     "--network: ",
		"dream5 " + folder + " --genes few":     "--genes: ",
		"dream5 " + folder + " --baselines foo": "--baselines: ",
		"dream5 " + folder + " --resamples 1":   "--resamples: ",
	} {
		if code, stdout, stderr := gladflow(t, strings.Fields(args)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("gladflow %s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

// Every flag is a field of the document.
func TestDream5Flags(t *testing.T) {
	c := command(t, "dream5")
	for _, f := range job.Fields(&job.Dream5{}, dream5.Facts())[1:] {
		if c.Flags().Lookup(f.Flag) == nil {
			t.Errorf("there is no flag for %s", f.Key)
		}
	}
}
