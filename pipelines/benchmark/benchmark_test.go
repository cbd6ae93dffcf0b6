package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// fast are solvers that take no time on small tables.
var fast = []string{"correlation", "pcor", "spectral"}

// folder has two sets of the group a, called a-one and a-two, and one of the group b.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, d := range map[string]int{"a/one.csv": 6, "a/two.csv": 9, "b/expression.csv": 7} {
		reference := "v0\tv1\nv1\tv2\nv2\tv4\nv5\tv3\n"
		write(t, filepath.Join(root, path), samples(t, d))
		name := strings.TrimSuffix(path, ".csv") + ".reference.tsv"
		if strings.HasPrefix(path, "b/") {
			name = "b/gold_standard.tsv"
		}
		write(t, filepath.Join(root, name), reference)
	}
	write(t, filepath.Join(root, "a/one.notes.md"), "no table")
	return root
}

func samples(t *testing.T, d int) string {
	t.Helper()
	data, err := os.ReadFile(testtable.CSV(t, d, 40))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// close compares figures that were summed in another order; NaN is close to NaN.
func close(a, b job.Float) bool {
	return math.IsNaN(float64(a)) && math.IsNaN(float64(b)) || math.Abs(float64(a-b)) < 1e-12
}

func TestRun(t *testing.T) {
	b := job.Benchmark{Sets: folder(t), Solvers: fast, Undirected: true, Bootstrap: job.Bootstrap{Resamples: "20"}, Out: filepath.Join(t.TempDir(), "out")}
	first, err := Run(t.Context(), b, Host{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range first.Sets {
		names = append(names, s.Group+" "+s.Name+" "+s.IDColumn)
		if s.Reference.Pairs != s.Variables*(s.Variables-1)/2 || s.Reference.Positives != 4 || s.Samples != 40 {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
	if want := []string{"a a-one id", "a a-two id", "b b id"}; !slices.Equal(names, want) {
		t.Fatalf("sets %q, want %q", names, want)
	}
	// Means, differences and wins, by hand.
	for k, solver := range fast {
		for _, m := range metric.OfRankings() {
			of := func(set int) Figure { return figure(first.Sets[set].Solvers[k].Figures, m.Key) }
			base := func(set int) Figure { return figure(first.Sets[set].Solvers[0].Figures, m.Key) }
			in := figure(first.Groups[0].Solvers[k].Figures, m.Key)
			difference := (of(0).Value - base(0).Value + of(1).Value - base(1).Value) / 2
			half := math.Abs(float64(of(0).Value-of(1).Value)) / 2
			wins := 0
			for set := range 2 {
				if of(set).Value > base(set).Value {
					wins++
				}
			}
			if !close(in.Value, (of(0).Value+of(1).Value)/2) || !close(in.StandardError, job.Float(half)) || !close(in.Difference, difference) || in.Wins != wins || in.Of != 2 {
				t.Errorf("%s, %s of group a: %+v", solver, m.Key, in)
			}
			over := figure(first.Overall.Solvers[k].Figures, m.Key)
			if !close(over.Value, (in.Value+of(2).Value)/2) || !close(over.Difference, (difference+of(2).Value-base(2).Value)/2) || over.Of != 2 {
				t.Errorf("%s, %s over the groups: %+v", solver, m.Key, over)
			}
			if of(0).Difference != of(0).Value-base(0).Value || solver == "correlation" && (of(0).Difference != 0 || of(0).DifferenceError != 0 || of(0).Wins != 0) {
				t.Errorf("%s, %s of a set: %+v", solver, m.Key, of(0))
			}
		}
		if e := figure(first.Sets[0].Solvers[k].Figures, "auroc").StandardError; !(e > 0) {
			t.Errorf("%s: standard error %v", solver, e)
		}
	}
	if got := testtable.List(t, b.Out); !slices.Equal(got, []string{"benchmark.json", "benchmark.parquet", "done"}) {
		t.Errorf("files %v", got)
	}
	var document Result
	data, err := os.ReadFile(filepath.Join(b.Out, DocumentFile))
	if err != nil || json.Unmarshal(data, &document) != nil || document.Overall.Of != 2 || document.Benchmark.Solvers == nil {
		t.Errorf("%v: %s", err, data)
	}
}

// What is done is not repeated, unless something that matters has changed.
func TestResume(t *testing.T) {
	b := job.Benchmark{Sets: folder(t), Solvers: fast[:2], Undirected: true, Bootstrap: job.Bootstrap{Resamples: "5"}, Out: t.TempDir(), Format: "csv"}
	reused := func(b job.Benchmark, build string) (int, *Result) {
		t.Helper()
		r, err := Run(t.Context(), b, Host{Build: build})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range r.Sets {
			for _, f := range s.Solvers {
				if f.Reused {
					n++
				}
			}
		}
		return n, r
	}
	n, first := reused(b, "1")
	table, err := os.ReadFile(filepath.Join(b.Out, "benchmark.csv"))
	if n != 0 || err != nil {
		t.Fatalf("%d of an empty folder, %v", n, err)
	}
	n, second := reused(b, "1")
	again, _ := os.ReadFile(filepath.Join(b.Out, "benchmark.csv"))
	if n != 6 || string(table) != string(again) || fmt.Sprint(first.Overall) != fmt.Sprint(second.Overall) {
		t.Errorf("%d of 6 are of the first run, or the figures differ", n)
	}
	more := b
	more.Solvers = fast
	if n, _ := reused(more, "1"); n != 6 {
		t.Errorf("%d with a solver more", n)
	}
	if n, _ := reused(b, "2"); n != 0 {
		t.Errorf("%d of another program", n)
	}
	seed := b
	seed.Seed = 4
	if n, _ := reused(seed, "2"); n != 0 {
		t.Errorf("%d with another seed", n)
	}
	path := filepath.Join(b.Sets, "a", "one.reference.tsv")
	write(t, path, "v0\tv1\n")
	if n, _ := reused(seed, "2"); n != 4 {
		t.Errorf("%d with another reference of one set of three", n)
	}
	// A document that is no record is made again.
	write(t, filepath.Join(b.Out, doneFolder, "b", "correlation.json"), "{")
	if n, _ := reused(seed, "2"); n != 5 {
		t.Errorf("%d with one broken", n)
	}
	repeat := seed
	repeat.Repeat = true
	if n, _ := reused(repeat, "2"); n != 0 {
		t.Errorf("%d where all is to be repeated", n)
	}
}

// What is wrong with one set or solver does not stop the others.
func TestOthersGoOn(t *testing.T) {
	b := job.Benchmark{Sets: folder(t), Solvers: fast[:2], Undirected: true, Bootstrap: job.Bootstrap{Resamples: "none"}, Out: t.TempDir()}
	write(t, filepath.Join(b.Sets, "a", "one.csv"), "v0,v1\n1,2\n3,x\n")
	r, err := Run(t.Context(), b, Host{})
	wrong := new(job.Error)
	if err == nil || errors.As(err, &wrong) || !strings.Contains(err.Error(), "1 of 3 sets") || !strings.Contains(err.Error(), "a-one") {
		t.Errorf("error %v", err)
	}
	if !r.Partial || !strings.Contains(r.Sets[0].Error, "one.csv") || len(r.Sets[1].Solvers) != 2 || len(r.Sets[2].Solvers) != 2 {
		t.Errorf("%+v", r)
	}
	// The group has no mean that leaves out one of its sets.
	if f := figure(r.Groups[0].Solvers[0].Figures, "auroc"); f.Value.IsFinite() || f.Of != 0 {
		t.Errorf("mean of a group with a set that failed: %+v", f)
	}
	if f := figure(r.Groups[1].Solvers[0].Figures, "auroc"); !f.Value.IsFinite() {
		t.Errorf("mean of the other: %+v", f)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := job.Benchmark{Sets: folder(t), Solvers: fast[:2], Undirected: true, Bootstrap: job.Bootstrap{Resamples: "none"}, Out: t.TempDir()}
	cancel()
	r, err := Run(ctx, b, Host{})
	if !errors.Is(err, context.Canceled) || !r.Partial {
		t.Errorf("%v, %+v", err, r)
	}
}

// Without names all solvers run, and each has figures.
func TestAllSolvers(t *testing.T) {
	b := job.Benchmark{Sets: folder(t), Undirected: true, Bootstrap: job.Bootstrap{Resamples: "none"}}
	r, err := Run(t.Context(), b, Host{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Overall.Solvers {
		if f := figure(s.Figures, "auroc"); !f.Value.IsFinite() {
			t.Errorf("%s: %+v", s.Solver, f)
		}
	}
	if len(r.Overall.Solvers) < 10 {
		t.Errorf("%d solvers", len(r.Overall.Solvers))
	}
}

func TestBackground(t *testing.T) {
	root := t.TempDir()
	text := samples(t, 7)
	text = strings.Replace(text, ",v5,v6\n", ",bgr_5,bgr_6\n", 1)
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			text = line + ",bgr_still\n"
		} else {
			text += line + ",1\n"
		}
	}
	write(t, filepath.Join(root, "x.csv"), text)
	write(t, filepath.Join(root, "x.reference.csv"), "v0,v1\nv1,v2\nbgr_5,v2\n")
	r, err := Run(t.Context(), job.Benchmark{Sets: root, Solvers: fast, Undirected: true, Background: "bgr_"}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Sets[0]
	if s.Reference.Pairs != 10 || s.Reference.Positives != 2 || s.Reference.Skipped != 0 || !strings.HasSuffix(s.Reference.Text, "; 1 line of the reference on the background left out") || s.Variables != 7 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "bgr_still") {
		t.Errorf("%+v", s)
	}
}

// Where a set has regulators, edges start at them; a list that has changed is noticed.
func TestRegulators(t *testing.T) {
	b := job.Benchmark{Sets: folder(t), Solvers: []string{"correlation", "ridge"}, Bootstrap: job.Bootstrap{Resamples: "none"}, Population: "all", Out: t.TempDir()}
	for _, name := range []string{"a/one", "a/two", "b/"} {
		path := filepath.Join(b.Sets, filepath.FromSlash(name)) + ".regulators.txt"
		if strings.HasSuffix(name, "/") {
			path = filepath.Join(b.Sets, "b", "regulators.txt")
		}
		write(t, path, "v0\nv1\nv2\nv5\n")
	}
	first, err := Run(t.Context(), b, Host{Build: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range first.Overall.Solvers {
		if f := figure(s.Figures, "auroc"); !f.Value.IsFinite() {
			t.Errorf("%s: %+v", s.Solver, f)
		}
	}
	if err := os.Remove(filepath.Join(b.Sets, "b", "regulators.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.Sets, "a", "one.regulators.txt"), "v0\nv1\n")
	second, err := Run(t.Context(), b, Host{Build: "1"})
	if err != nil {
		t.Fatal(err)
	}
	// One without a list has no ridge, and the others go on.
	if s := second.Sets[2]; len(s.Solvers) != 1 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "ridge") {
		t.Errorf("%+v", s)
	}
	if s := second.Sets; s[0].Solvers[1].Reused || !s[1].Solvers[1].Reused || s[0].Solvers[1].Figures[0].Value == first.Sets[0].Solvers[1].Figures[0].Value {
		t.Errorf("%+v", s)
	}
}
