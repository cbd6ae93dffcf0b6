package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/plugin/internal/built"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

// examples is a folder with a copy of the examples, to run them in: they write
// files.
func examples(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// paths are the examples that a pattern matches, at least one.
func paths(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "examples", pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no example is called %s: %v", pattern, err)
	}
	return found
}

// Every job runs as it stands and leaves networks with edges.
func TestExampleJobs(t *testing.T) {
	jobs := paths(t, "jobs/*.yaml")
	t.Chdir(examples(t))
	for _, path := range jobs {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := gladflow(t, "run", filepath.Join("examples", "jobs", name+".yaml"), "--json")
			if code != exitDone {
				t.Fatalf("code %d: %s", code, stderr)
			}
			var result struct {
				Solvers []struct {
					Name, Status string
					Edges        int
				}
			}
			if err := json.Unmarshal([]byte(stdout), &result); err != nil {
				t.Fatal(err)
			}
			for _, s := range result.Solvers {
				if s.Edges == 0 || s.Status != "converged" && s.Status != "completed" {
					t.Errorf("%+v", s)
				}
			}
			if files := noTemporaries(t, filepath.Join("out", name)); len(files) < 2*len(result.Solvers)+1 {
				t.Errorf("files %v of %d solvers", files, len(result.Solvers))
			}
		})
	}
}

// The host is built and launches the binary as its plugin.
func TestExampleHost(t *testing.T) {
	binary := built.Binary(t)
	c := exec.Command("go", "run", "./examples/host", filepath.Join("examples", "data", "expression.csv"))
	c.Dir = root
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil || !strings.Contains(stderr.String(), "solving bcd converged") {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 10 || !regexp.MustCompile(`^g\d\d\tg\d\d\t0\.\d{3}$`).MatchString(lines[0]) {
		t.Errorf("prints\n%s", out)
	}
}

// Python's own compiler reads the scripts, whatever they import.
func TestExamplePythonCompiles(t *testing.T) {
	if exec.Command("python3", "-c", "").Run() != nil {
		t.Skip("python3 is not installed")
	}
	folder := examples(t)
	for _, pattern := range []string{"python/*.py", "schedulers/*.py"} {
		for _, path := range paths(t, pattern) {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("python3", "-m", "py_compile", filepath.Join(folder, relative)).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
	}
}

// The Python client runs against a service, and its edges are those of the
// command line.
func TestPyarrowExample(t *testing.T) {
	python3(t) // skips before anything is built
	folder := examples(t)
	table := filepath.Join(folder, "examples", "data", "expression.csv")
	edges := filepath.Join(folder, "edges.csv")
	c := python3(t, filepath.Join(folder, "examples", "python", "flight.py"), table,
		"--id-column", "sample", "--address", serving(t), "--penalty", "0.2", "--out", edges)
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "solving bcd converged") {
		t.Fatalf("%v\n%s", err, out)
	}
	if code, _, stderr := gladflow(t, "recover", table, "--id-column", "sample", "--solvers", "bcd", "--penalty", "0.2",
		"--format", "csv", "--out", folder); code != exitDone {
		t.Fatal(stderr)
	}
	lines := func(path string) []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	if got, want := lines(edges), lines(filepath.Join(folder, "bcd.edges.csv")); len(got) != len(want) || len(got) < 10 || got[0] != want[0] {
		t.Errorf("%d lines beginning with %q, want %d with %q", len(got), got[0], len(want), want[0])
	}
}

// make does what is missing, and nothing the second time.
func TestExampleMakefile(t *testing.T) {
	if exec.Command("make", "--version").Run() != nil {
		t.Skip("make is not installed")
	}
	binary, folder := built.Binary(t), examples(t)
	if err := os.Mkdir(filepath.Join(folder, "tables"), 0o777); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(folder, "tables", "monday.csv")
	if err := os.Rename(filepath.Join(folder, "examples", "data", "expression.csv"), table); err != nil {
		t.Fatal(err)
	}
	try := func() (string, error) {
		c := exec.Command("make", "-f", "examples/schedulers/Makefile", "TABLES=tables", "OUT=networks", "GLADFLOW="+binary)
		c.Dir = folder
		out, err := c.CombinedOutput()
		return string(out), err
	}
	run := func() string {
		out, err := try()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	// What has failed is not done.
	blocked := filepath.Join(folder, "networks", "monday", "bcd.edges.parquet")
	if err := os.MkdirAll(blocked, 0o777); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := try(); err == nil || !strings.Contains(out, "gladflow: writing ") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if out := run(); !strings.Contains(out, "recover tables/monday.csv") {
		t.Errorf("prints\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(folder, "networks", "monday", "run.json")); err != nil {
		t.Error(err)
	}
	if out := run(); strings.Contains(out, "recover") {
		t.Errorf("the second time it prints\n%s", out)
	}
}
