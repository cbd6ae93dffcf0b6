package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/benchmark"
	"github.com/gladflow/gladflow/pipelines/job"
)

// sets is a folder of two sets, chain and second.
func sets(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"chain.csv": expression(), "chain.reference.tsv": chain, "second.csv": expression(), "second.gold.tsv": "g2\tg3\ng4\tg5\ng5\tg6\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestBenchmark(t *testing.T) {
	folder, out := sets(t), t.TempDir()
	args := []string{"benchmark", folder, "--solvers", "bcd,pcor", "--baseline", "pcor", "--undirected", "--resamples", "10", "--out", out}
	code, stdout, stderr := gladflow(t, args...)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"AUROC             samples  variables  edges     bcd    pcor\nchain                  40          6      2  ",
		"mean of 2 groups", "\nminus pcor ", " of 2", "mean over 2 groups of the difference ± its standard error over them",
		"chain: labelled, undirected: 4 pairs, 2 positive", "4 rankings, 0 of them of an earlier run",
		"files in " + out + ": benchmark.parquet, benchmark.json\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "second, bcd: converged") {
		t.Errorf("standard error\n%s", stderr)
	}
	code, stdout, _ = gladflow(t, append(args, "--json")...)
	var r benchmark.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || !r.Sets[1].Solvers[0].Reused {
		t.Errorf("again: code %d, %v, %+v", code, err, r)
	}
}

func TestBenchmarkFails(t *testing.T) {
	folder := sets(t)
	if err := os.WriteFile(filepath.Join(folder, "chain.csv"), []byte("a,b\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := gladflow(t, "benchmark", folder, "--solvers", "correlation", "--undirected")
	if code != exitFailed || !strings.Contains(stdout, "second  ") || !strings.Contains(stdout, "\nchain: ") || !strings.Contains(stderr, "1 of 2 sets failed") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	for args, want := range map[string]string{
		"benchmark":                                  "DIR|LIST",
		"benchmark " + t.TempDir():                   "no table with a reference",
		"benchmark " + folder + " --metrics foo":     `--metrics: "foo" is unknown`,
		"benchmark " + folder + " --resamples 1":     "--resamples: ",
		"benchmark " + folder + " --baseline foo":    `--baseline: "foo" is unknown`,
		"benchmark " + folder + "/none.yaml":         "no such file",
		"benchmark " + folder + " --root x":          "--root: ",
		"benchmark " + folder + " --time-limit soon": "--time-limit",
	} {
		if code, stdout, stderr := gladflow(t, strings.Fields(args)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("gladflow %s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

// Every flag is a field of the document.
func TestBenchmarkFlags(t *testing.T) {
	c := command(t, "benchmark")
	for _, f := range job.Fields(&job.Benchmark{}, benchmark.Facts())[1:] {
		if c.Flags().Lookup(f.Flag) == nil {
			t.Errorf("there is no flag for %s", f.Key)
		}
	}
}
