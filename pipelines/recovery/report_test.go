package recovery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
)

// drawnData are what the scripts of a page are given, by kind: charts and networks.
func drawnData(t *testing.T, text, kind string) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	for _, m := range regexp.MustCompile(`<div class="`+kind+`"><script type="application/json">(.*?)</script>`).FindAllStringSubmatch(text, -1) {
		list = append(list, json.RawMessage(m[1]))
	}
	if list == nil {
		t.Fatalf("the page has no %s", kind)
	}
	return list
}

// The page has what the run has found, and run.json lists it.
func TestReport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	j := job.Job{
		Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: SelfSufficient(), Penalty: "0.1", Out: out,
		Reference: testtable.File(t, "r.tsv", testtable.Star), Report: filepath.Join(out, "pages", "report.html"),
	}
	result, err := Run(t.Context(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(j.Report)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	want := job.WrittenFile{Name: "pages/report.html", Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	if last := result.Files[len(result.Files)-1]; last != want {
		t.Errorf("run.json lists %+v, want %+v", last, want)
	}
	text := string(data)
	var drawn struct {
		Names    []string
		Networks []struct {
			Name   string
			Total  int
			Nodes  []int
			Edges  []int
			Scores []float64
		}
	}
	if err := json.Unmarshal(drawnData(t, text, "networks")[0], &drawn); err != nil {
		t.Fatal(err)
	}
	for i, s := range result.Solvers {
		n := drawn.Networks[i]
		if n.Name != s.Name || len(n.Edges) != 4*len(n.Scores) || len(n.Scores) != n.Total {
			t.Errorf("%s: drawn is %+v", s.Name, n)
		}
		if !s.Ranking && n.Total != s.Edges {
			t.Errorf("%s: %d edges are drawn of %d", s.Name, n.Total, s.Edges)
		}
		list, err := arrowio.ReadEdges(t.Context(), filepath.Join(out, s.Name+".edges.parquet"), arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range min(3, len(n.Scores)) {
			from, to := drawn.Names[n.Nodes[n.Edges[4*k]]], drawn.Names[n.Nodes[n.Edges[4*k+1]]]
			if math.Abs(n.Scores[k]-list.Score[k]) > 1e-4*math.Abs(list.Score[k]) {
				t.Errorf("%s: edge %d has score %v, in the file %v", s.Name, k, n.Scores[k], list.Score[k])
			}
			if list.Score[k] != list.Score[k+1] && (k == 0 || list.Score[k] != list.Score[k-1]) && (from != list.Source[k] || to != list.Target[k]) {
				t.Errorf("%s: edge %d joins %s and %s, in the file %s and %s", s.Name, k, from, to, list.Source[k], list.Target[k])
			}
		}
	}
	var charts struct {
		Names  []string
		Charts []struct {
			Title string
			Lines []struct {
				Name int
				Y    []float64
			}
		}
	}
	convergence := drawnData(t, text, "charts")[2]
	if err := json.Unmarshal(convergence, &charts); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range charts.Charts {
		for _, l := range c.Lines {
			lines = append(lines, c.Title+": "+charts.Names[l.Name])
		}
	}
	if got, want := strings.Join(lines, ", "), "Duality gap: bcd, Duality gap: gista, Duality gap: admm, Duality gap: am, "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "Distance of the two iterates: glad") {
		t.Errorf("convergence is shown as %s", got)
	}
	for _, word := range []string{result.Input.SHA256, result.Reference.SHA256, result.Version, "gladflow recover", "--penalty 0.1", "bcd.edges.parquet"} {
		if !strings.Contains(text, word) {
			t.Errorf("the page lacks %s", word)
		}
	}
}

// A run with a folder leaves its page there, unless the job says otherwise, and the command
// that repeats it does not name what is the default.
func TestReportIsTheDefault(t *testing.T) {
	input := testtable.CSV(t, 4, 20)
	for asked, want := range map[string][]string{
		"":                                   {"bcd.edges.parquet", "bcd.precision.parquet", "report.html", "run.json"},
		job.ReportNone:                       {"bcd.edges.parquet", "bcd.precision.parquet", "run.json"},
		filepath.Join(t.TempDir(), "p.html"): {"bcd.edges.parquet", "bcd.precision.parquet", "run.json"},
	} {
		j := job.Job{Input: input, IDColumn: "id", Solvers: []string{"bcd"}, Report: asked, Out: t.TempDir()}
		result, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if got := testtable.List(t, j.Out); !slices.Equal(got, want) {
			t.Errorf("report %q: files %v", asked, got)
		}
		if command := result.Job.Command(Facts()); strings.Contains(command, "--report") != (asked != "") {
			t.Errorf("report %q: %s", asked, command)
		}
	}
	if r := Resolved(job.Job{Input: input}); r.Report != "" {
		t.Errorf("without a folder the page is %s", r.Report)
	}
}

// A page that cannot be written is an error before anything is computed, and leaves
// nothing.
func TestReportIsRefusedEarly(t *testing.T) {
	folder := t.TempDir()
	file := testtable.File(t, "file", "")
	if err := os.Mkdir(filepath.Join(folder, "there.html"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := arrowio.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct {
		path string
		root *arrowio.Root
	}{
		{filepath.Join(folder, "report.txt"), nil},
		{filepath.Join(folder, "there.html"), nil},
		{filepath.Join(file, "report.html"), nil},
		{"s3://bucket/report.html", nil},
		{filepath.Join(file, "..", "report.html"), root},
		{"../report.html", root},
	} {
		j := job.Job{Input: testtable.CSV(t, 4, 20), IDColumn: "id", Solvers: []string{"bcd"}, Report: c.path}
		host := Host{Solved: func(Network) error { t.Error("a solver has run"); return nil }}
		if c.root != nil {
			host.Files = table.Files{Records: inMemory(t, 4, 20), Root: c.root}
			j.Input, j.IDColumn = job.Stdin, ""
		}
		_, err := Run(t.Context(), j, host)
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}

// A run that fails before it has anything to show makes no folder for its page.
func TestReportOfFailedRun(t *testing.T) {
	at := filepath.Join(t.TempDir(), "pages")
	input := testtable.File(t, "samples.csv", "a,b\n1,2\n1,3\n1,4\n")
	_, err := Run(t.Context(), job.Job{Input: input, Solvers: []string{"bcd"}, Report: filepath.Join(at, "r.html")}, Host{})
	if err == nil {
		t.Fatal("a constant column is accepted")
	}
	if _, err := os.Stat(at); err == nil {
		t.Error("the folder of the page stays")
	}
	// One that was interrupted shows what had finished, and says so.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(at, "r.html")
	j := job.Job{Input: testtable.CSV(t, 6, 40), IDColumn: "id", Solvers: []string{"bcd", "admm"}, Penalty: "0.1", Report: path}
	if _, err := Run(ctx, j, Host{Solved: func(Network) error { cancel(); return nil }}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "The run has failed.") || !strings.Contains(string(text), "interrupted") || !strings.Contains(string(text), ">bcd<") {
		t.Errorf("%v: %.3000s", err, text)
	}
}

// A history is bounded, even, in order, and has the first and the last iteration.
func TestHistory(t *testing.T) {
	for _, n := range []int{0, 1, 2, maxHistory, maxHistory + 1, 100_000} {
		var h history
		for k := range n {
			h.add(solver.Iteration{Number: k + 1})
		}
		list := h.iterations()
		if len(list) > maxHistory+1 || len(list) < min(n, maxHistory/2) {
			t.Fatalf("%d of %d iterations are kept", len(list), n)
		}
		if n == 0 {
			continue
		}
		if list[0].Number != 1 || list[len(list)-1].Number != n {
			t.Errorf("of %d iterations %d to %d are kept", n, list[0].Number, list[len(list)-1].Number)
		}
		for i := 1; i < len(list)-1; i++ {
			if list[i].Number-list[i-1].Number != h.every {
				t.Fatalf("iterations %d and %d follow each other", list[i-1].Number, list[i].Number)
			}
		}
	}
}

// Where regulators are known, edges lead from them, and they are marked.
func TestReportOfRegulators(t *testing.T) {
	j := job.Job{
		Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: []string{"bcd", "ridge", "clr"}, Penalty: "0.1",
		Regulators: testtable.File(t, "regulators.txt", "v1\nv4\n"), Report: filepath.Join(t.TempDir(), "r.html"),
	}
	result, err := Run(t.Context(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(j.Report)
	if err != nil {
		t.Fatal(err)
	}
	var drawn struct {
		Names    []string
		Networks []struct {
			Name       string
			Directed   bool
			Nodes      []int
			Regulators []int
			Edges      []int
		}
	}
	if err := json.Unmarshal(drawnData(t, string(text), "networks")[0], &drawn); err != nil {
		t.Fatal(err)
	}
	for _, n := range drawn.Networks {
		regulators := make(map[int]bool)
		for _, k := range n.Regulators {
			regulators[k] = drawn.Names[n.Nodes[k]] == "v1" || drawn.Names[n.Nodes[k]] == "v4"
		}
		if !n.Directed || len(n.Edges) == 0 || len(regulators) == 0 {
			t.Errorf("%s: drawn is %+v", n.Name, n)
		}
		for k := 0; k < len(n.Edges); k += 4 {
			if !regulators[n.Edges[k]] {
				t.Errorf("%s: an edge leads from %s", n.Name, drawn.Names[n.Nodes[n.Edges[k]]])
			}
		}
	}
	if len(drawn.Networks) != 3 || !strings.Contains(string(text), result.Regulators.SHA256) || !strings.Contains(string(text), "2 listed, 2 of them variables") {
		t.Errorf("%d networks, %+v", len(drawn.Networks), result.Regulators)
	}
}
