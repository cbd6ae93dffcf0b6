package benchmark

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/pipelines/table"
)

func TestListsSayTheSame(t *testing.T) {
	lists := map[string]string{
		"list.csv":  "name,table,reference,orientation,undirected\none,t.tsv,/r.csv,columns,true\n,s.csv.gz,q.sif,,\n",
		"list.tsv":  "\xEF\xBB\xBFname\ttable\treference\torientation\tundirected\none\tt.tsv\t/r.csv\tcolumns\ttrue\n\ts.csv.gz\tq.sif\t\t\n",
		"list.yaml": "- name: one\n  table: t.tsv\n  reference: /r.csv\n  orientation: columns\n  undirected: true\n- table: s.csv.gz\n  reference: q.sif\n",
	}
	for name, text := range lists {
		path := testtable.File(t, name, text)
		for _, root := range []string{"", "elsewhere"} {
			sets, err := readList(path, root)
			if err != nil || len(sets) != 2 {
				t.Fatalf("%s: %v, %v", name, err, sets)
			}
			folder := root
			if root == "" {
				folder = filepath.Dir(path)
			}
			want := Set{Name: "one", Table: filepath.Join(folder, "t.tsv"), Reference: "/r.csv", Orientation: "columns", Undirected: "true"}
			if sets[0] != want || sets[1] != (Set{Table: filepath.Join(folder, "s.csv.gz"), Reference: filepath.Join(folder, "q.sif")}) {
				t.Errorf("%s: %+v", name, sets)
			}
		}
	}
}

// What is wrong with a benchmark is a sentence about a field, before a solver starts.
func TestRefused(t *testing.T) {
	empty := t.TempDir()
	list := func(name, text string) string { return testtable.File(t, name, text) }
	const head = "name,table,reference\n"
	for _, c := range []struct {
		b           job.Benchmark
		field, want string
	}{
		{job.Benchmark{}, "sets", "no folder and no list"},
		{job.Benchmark{Sets: filepath.Join(empty, "none")}, "sets", "no such file"},
		{job.Benchmark{Sets: empty}, "sets", "no table with a reference"},
		{job.Benchmark{Sets: empty, Root: empty}, "root", "leave this out"},
		{job.Benchmark{Sets: empty, Solvers: []string{"foo"}}, "solvers", `"foo" is unknown`},
		{job.Benchmark{Sets: empty, Baseline: "foo"}, "baseline", `"foo" is unknown`},
		{job.Benchmark{Sets: empty, Metrics: []string{"foo"}}, "metrics", `"foo" is unknown`},
		{job.Benchmark{Sets: empty, Metrics: []string{"auroc", "auroc"}}, "metrics", "twice"},
		{job.Benchmark{Sets: empty, Bootstrap: job.Bootstrap{Resamples: "1"}}, "resamples", "neither a number"},
		{job.Benchmark{Sets: empty, Bootstrap: job.Bootstrap{Resamples: "2.5"}}, "resamples", "neither a number"},
		{job.Benchmark{Sets: empty, Bootstrap: job.Bootstrap{Seed: -1}}, "seed", "-1"},
		{job.Benchmark{Sets: empty, Method: job.Method{Penalty: "-1"}}, "penalty", "-1"},
		{job.Benchmark{Sets: empty, Population: "some"}, "population", "some"},
		{job.Benchmark{Sets: list("l.csv", "")}, "sets", "no set in the list"},
		{job.Benchmark{Sets: list("l.csv", "table\nx\n")}, "sets", "no reference is named"},
		{job.Benchmark{Sets: list("l.csv", "reference\nx\n")}, "sets", "no table is named"},
		{job.Benchmark{Sets: list("l.csv", "table,foo\nx,y\n")}, "sets", "foo"},
		{job.Benchmark{Sets: list("l.csv", "table,reference,undirected\nx,y,perhaps\n")}, "sets", "perhaps"},
		{job.Benchmark{Sets: list("l.csv", head+"..,x,y\n")}, "sets", "no name for a set"},
		{job.Benchmark{Sets: list("l.csv", head+"a/b,x,y\n")}, "sets", "no name for a set"},
		{job.Benchmark{Sets: list("l.csv", head+"a,x,y\na,z,y\n")}, "sets", `two sets are called "a"`},
		{job.Benchmark{Sets: list("l.csv", "table,table\nx,y\n")}, "sets", "twice"},
		{job.Benchmark{Sets: list("l.yaml", "table: x\n")}, "sets", "sequence is expected"},
		{job.Benchmark{Sets: list("l.yaml", "- table: [x]\n")}, "sets", "must be a text"},
		{job.Benchmark{Sets: list("l.yaml", strings.Repeat("[", 2000))}, "sets", "brackets"},
		{job.Benchmark{Sets: list("l.csv", strings.Repeat("x", listBytes+1))}, "sets", "4 MB"},
	} {
		_, err := Run(t.Context(), c.b, Host{})
		wrong := new(job.Error)
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.b, err, c.want)
		}
	}
}

func TestTwoTablesOfOneSet(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"x.csv", "x.tsv", "x.reference.csv"} {
		write(t, filepath.Join(root, name), "a,b\n")
	}
	if _, err := findSets(root); err == nil || !strings.Contains(err.Error(), "x.csv and x.tsv are all the table") {
		t.Errorf("%v", err)
	}
}

// What gladflow simulate genes writes is a folder of sets.
func TestSimulatedGenes(t *testing.T) {
	root := t.TempDir()
	g := job.GeneSimulation{Genes: 12, Samples: 20, Sets: 2, Out: root}
	if _, err := simulation.RunGenes(t.Context(), g, table.Files{}, nil); err != nil {
		t.Fatal(err)
	}
	sets, err := findSets(root)
	if err != nil || len(sets) != 2 {
		t.Fatalf("%v, %+v", err, sets)
	}
	for _, s := range sets {
		if !strings.HasSuffix(s.Table, s.Name+".parquet") || !strings.HasSuffix(s.Reference, ".reference.csv") || !strings.HasSuffix(s.Regulators, ".regulators.txt") {
			t.Errorf("%+v", s)
		}
	}
}

func FuzzList(f *testing.F) {
	f.Add("table,reference\nx,y\n", false)
	f.Add("- table: x\n  reference: y\n", true)
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		parse := func() ([]entry, error) { return parseTable([]byte(text), ',') }
		if yaml {
			parse = func() ([]entry, error) { return parseYAML([]byte(text)) }
		}
		entries, err := parse()
		if err != nil {
			return
		}
		for _, e := range entries {
			if s, err := e.set("root"); err == nil && (s.Table == "" || s.Reference == "") {
				t.Errorf("%+v of %q", s, text)
			}
		}
	})
}

// The files that the example names are there.
func TestSetsOfTheExample(t *testing.T) {
	root := cmp.Or(os.Getenv("GLADFLOW_DATA"), "data")
	sets, err := readList("../../examples/benchmark/gene-networks.yaml", root)
	if err != nil || len(sets) != 9 {
		t.Fatalf("%v, %d sets", err, len(sets))
	}
	small, err := readList("../../examples/benchmark/small-networks.yaml", root)
	if err != nil || !slices.Equal(small, sets[1:]) {
		t.Errorf("the smaller ones are %+v, %v", small, err)
	}
	if os.Getenv("GLADFLOW_DATA") == "" {
		t.Skip("GLADFLOW_DATA does not name a folder with the files")
	}
	for _, s := range sets {
		for _, path := range []string{s.Table, s.Reference} {
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	}
}
