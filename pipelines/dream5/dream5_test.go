package dream5

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// fast are solvers that take no time on small tables.
var fast = []string{"correlation", "clr", "pcor"}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	data := []byte(text)
	if strings.HasSuffix(path, ".gz") {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Genes of the tables; the gold standards know the first ten.
const (
	samples = 30
	genes   = 12
)

// expression is a table in which G1 to G4 drive three genes each.
func expression() string {
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for j := range genes {
		fmt.Fprintf(&b, "\tG%d", j+1)
	}
	text := strings.TrimPrefix(b.String(), "\t") + "\n"
	for range samples {
		x := make([]float64, genes)
		for j := range x {
			x[j] = rng.NormFloat64()
			if j >= 4 {
				x[j] = 0.8*x[j%4] + 0.6*x[j]
			}
			text += fmt.Sprintf("%.5f\t", x[j])
		}
		text = strings.TrimSuffix(text, "\t") + "\n"
	}
	return text
}

// numbered is a table with numbers for the labels of its samples.
func numbered(table string) string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	for i, line := range lines {
		label := fmt.Sprint(i)
		if i == 0 {
			label = "condition"
		}
		lines[i] = label + "\t" + line
	}
	return strings.Join(lines, "\n") + "\n"
}

// gold labels the pairs of G1 to G4 and every other gene of the first ten.
func gold() string {
	var b strings.Builder
	for i := range 4 {
		for j := range 10 {
			label := 0
			if j >= 4 && j%4 == i {
				label = 1
			}
			if i != j {
				fmt.Fprintf(&b, "G%d\tG%d\t%d\n", i+1, j+1, label)
			}
		}
	}
	return b.String()
}

// challenge is a folder as the challenges' files are downloaded.
func challenge(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "training data", "Network 3 - E. coli", "net3_expression_data.tsv"), expression())
	put(t, filepath.Join(root, "training data", "Network 3 - E. coli", "net3_transcription_factors.tsv"), "G1\nG2\nG3\nG4\nG5\nG90\n")
	put(t, filepath.Join(root, "training data", "Network 3 - E. coli", "net3_gene_ids.tsv"), "#ID\tName\nG1\ta\n")
	put(t, filepath.Join(root, "test data", "DREAM5_NetworkInference_GoldStandard_Network3 - E. coli.tsv"), gold())
	put(t, filepath.Join(root, "net1_expression_data.tsv.gz"), numbered(expression()))
	put(t, filepath.Join(root, "net1_gold_standard.tsv.gz"), gold())
	put(t, filepath.Join(root, "net4_expression_data.tsv"), expression())
	put(t, filepath.Join(root, "dream4", "insilico_size12_2_multifactorial.tsv"), `"`+strings.ReplaceAll(strings.Replace(expression(), "\n", "\"\n", 1), "\tG", "\"\t\"G"))
	put(t, filepath.Join(root, "dream4", "DREAM4_GoldStandard_InSilico_Size12_multifactorial_2.tsv"), gold())
	return root
}

func TestRun(t *testing.T) {
	d := job.Dream5{Folder: challenge(t), Solvers: append(slices.Clone(fast), "ridge"), Bootstrap: job.Bootstrap{Resamples: "30"}, Out: filepath.Join(t.TempDir(), "out"), Format: "csv"}
	r, err := Run(t.Context(), d, Host{})
	if err != nil {
		t.Fatal(err)
	}
	data := r.Data
	if r.Network != "3" || data.Samples != samples || data.Genes != genes || data.Used != 10 || data.Listed != 6 || data.Found != 5 || data.Whole {
		t.Errorf("network %s, %+v", r.Network, data)
	}
	for _, want := range []string{"30 samples × 12 genes", "not the challenge's 805 × 4511", "the 10 genes of the gold standard"} {
		if !strings.Contains(data.Text, want) {
			t.Errorf("%q is not in %q", want, data.Text)
		}
	}
	if !slices.Equal(r.Others, []string{"1", "size12_2"}) {
		t.Errorf("other networks %v", r.Others)
	}
	var pairs []int
	for _, p := range r.Populations {
		pairs = append(pairs, p.Pairs, p.Positives)
	}
	// 4 × 9 ordered pairs, 6 of them between regulators in both orders, of 45 in all.
	if !slices.Equal(pairs, []int{36, 6, 30, 6, 45, 6}) {
		t.Errorf("pairs and positives %v", pairs)
	}
	if len(r.Published) == 0 || len(r.Solvers) < len(fast) {
		t.Errorf("%d published, %d solvers", len(r.Published), len(r.Solvers))
	}
	if len(r.Solvers) != 2*len(fast)+1 || r.Solvers[0].Name() != "correlation" || r.Solvers[len(fast)].Name() != "correlation, regulators" || r.Solvers[2*len(fast)].Name() != "ridge, regulators" {
		t.Fatalf("solvers %+v", r.Solvers)
	}
	for i, s := range r.Solvers {
		base0 := r.Solvers[0]
		if s.Regulators {
			base0 = r.Solvers[len(fast)]
		}
		for k, p := range r.Populations {
			for _, m := range metric.OfRankings() {
				f, ok := s.Figure(p.Name, m.Key)
				if !ok || !f.Value.IsFinite() || !(f.StandardError >= 0) {
					t.Errorf("%s, %s, %s: %+v", s.Name(), p.Name, m.Key, f)
				}
				base, _ := base0.Figure(p.Name, m.Key)
				got, ridge := f.Difference("correlation"), f.Difference("ridge")
				if s.Solver == "correlation" && got.Value.IsFinite() || s.Solver != "correlation" && got.Value != f.Value-base.Value {
					t.Errorf("%s, %s, %s: %+v from %v", s.Name(), p.Name, m.Key, f, base.Value)
				}
				if want := s.Solver != "ridge" && (s.Regulators || k < 2); ridge.Value.IsFinite() != want {
					t.Errorf("%s, %s, %s: %+v from ridge %d", s.Name(), p.Name, m.Key, ridge, i)
				}
			}
		}
	}
	if auroc, _ := r.Solvers[0].Figure(r.Populations[0].Name, "auroc"); !(auroc.Value > 0.9) {
		t.Errorf("AUROC of strong edges is %v", auroc.Value)
	}
	files := testtable.List(t, d.Out)
	for _, want := range []string{"dream5.json", "metrics.csv", "DREAM5_NetworkInference_clr_Network3.txt"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not among %v", want, files)
		}
	}
	var document Result
	text, err := os.ReadFile(filepath.Join(d.Out, DocumentFile))
	if err != nil || json.Unmarshal(text, &document) != nil || len(document.Solvers) != len(r.Solvers) {
		t.Errorf("%v: %s", err, text)
	}
	table, err := os.ReadFile(filepath.Join(d.Out, "metrics.csv"))
	if err != nil || !strings.HasPrefix(string(table), "solver,regulators,population,metric,value,standard_error,minus_correlation,minus_correlation_error,") {
		t.Errorf("%v: %s", err, table)
	}
}

// A ranked list, scored as any other program's, has the figures of the run: edges of
// unlisted genes are no part of the challenge.
func TestListIsScoredTheSame(t *testing.T) {
	d := job.Dream5{Folder: challenge(t), Solvers: fast, Bootstrap: job.Bootstrap{Resamples: "none"}, Out: t.TempDir()}
	r, err := Run(t.Context(), d, Host{})
	if err != nil {
		t.Fatal(err)
	}
	reference, err := arrowio.ReadReference(t.Context(), r.Data.Gold, arrowio.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	known := metric.Reference{Source: reference.Source, Target: reference.Target, Label: reference.Label}
	p, err := known.Population(known.Names(), metric.Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Solvers {
		list, err := arrowio.ReadEdges(t.Context(), filepath.Join(d.Out, s.List), arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Source) != 5*9 || !slices.IsSortedFunc(list.Score, func(a, b float64) int { return -compare(a, b) }) {
			t.Errorf("%s: %d edges", s.Name(), len(list.Source))
		}
		got, err := p.ScoreList(metric.List{Source: list.Source, Target: list.Target, Score: list.Score})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := s.Figure(r.Populations[0].Name, "aupr")
		if math.Abs(got.AUPR-float64(want.Value)) > 1e-12 {
			t.Errorf("%s: AUPR %v of the list, %v of the run", s.Name(), got.AUPR, want.Value)
		}
	}
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestNetworks(t *testing.T) {
	folder := challenge(t)
	for _, c := range []struct {
		d          job.Dream5
		used       int
		title, out string
	}{
		{job.Dream5{Network: "1"}, 10, "in silico", "DREAM5_NetworkInference_pcor_Network1.txt"},
		{job.Dream5{Network: "1", Genes: "all"}, 12, "in silico", ""},
		{job.Dream5{Network: "size12_2"}, 10, "DREAM4, 12 genes, multifactorial", "DREAM4_pcor_InSilico_Size12_multifactorial_2.txt"},
	} {
		c.d.Folder, c.d.Solvers, c.d.Resamples, c.d.Out = folder, []string{"pcor"}, "none", t.TempDir()
		r, err := Run(t.Context(), c.d, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Title != c.title || r.Data.Used != c.used || c.out != "" && r.Solvers[0].List != c.out {
			t.Errorf("%+v: %s, %+v, %s", c.d, r.Title, r.Data, r.Solvers[0].List)
		}
	}
}

// A folder that is a link, and one that is called ".", are looked through.
func TestFolderIsALink(t *testing.T) {
	folder := challenge(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Skip(err)
	}
	t.Chdir(folder)
	for _, path := range []string{link, "."} {
		if f, err := search(t.Context(), path); err != nil || len(f.networks) != 4 {
			t.Errorf("%s: %v, %+v", path, err, f)
		}
	}
}

func TestWithoutRegulators(t *testing.T) {
	r, err := Run(t.Context(), job.Dream5{Folder: challenge(t), Network: "1", Solvers: []string{"pcor"}, Bootstrap: job.Bootstrap{Resamples: "none"}, Out: t.TempDir()}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.Dream5.Out, r.Solvers[0].List))
	if n := bytes.Count(text, []byte("\n")); err != nil || n != 90 {
		t.Errorf("%v, %d edges without a list of regulators", err, n)
	}
}

func TestRanked(t *testing.T) {
	names := []string{"a", "b", "c"}
	s := comparison.NewScores(names, true, func(i, j int) float64 { return float64((3*i + j) % 4) })
	text := func(edges []edge) string {
		var b strings.Builder
		for _, e := range edges {
			fmt.Fprintf(&b, "%s%s%g ", names[e.source], names[e.target], e.score)
		}
		return b.String()
	}
	for _, c := range []struct {
		listed map[string]bool
		most   int
		want   string
	}{
		{nil, 10, "ba3 cb3 ac2 ca2 ab1 bc1 "},
		{nil, 3, "ba3 cb3 ac2 "},
		{map[string]bool{"b": true}, 10, "ba3 bc1 "},
	} {
		if got := text(ranked(s, c.listed, c.most)); got != c.want {
			t.Errorf("%v, %d: %s, want %s", c.listed, c.most, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	folder, empty := challenge(t), t.TempDir()
	strangers := t.TempDir()
	put(t, filepath.Join(strangers, "net1_expression_data.tsv"), "A\tB\n1\t2\n2\t1\n3\t4\n")
	put(t, filepath.Join(strangers, "net1_gold_standard.tsv"), gold())
	for _, c := range []struct {
		d           job.Dream5
		field, want string
	}{
		{job.Dream5{}, "folder", "no folder is named"},
		{job.Dream5{Folder: filepath.Join(empty, "none")}, "folder", "no such file"},
		{job.Dream5{Folder: filepath.Join(folder, "net1_gold_standard.tsv.gz")}, "folder", "is no folder"},
		{job.Dream5{Folder: empty}, "folder", "no network with its expression data"},
		{job.Dream5{Folder: strangers}, "folder", "share 0 genes"},
		{job.Dream5{Folder: folder, Network: "4"}, "network", "gold standard of network 4 is not there"},
		{job.Dream5{Folder: folder, Network: "2"}, "network", "there are 1, 3 and size12_2"},
		{job.Dream5{Folder: folder, Network: "x"}, "network", "is no network"},
		{job.Dream5{Folder: folder, Genes: "some"}, "genes", "some"},
		{job.Dream5{Folder: folder, Solvers: []string{"foo"}}, "solvers", `"foo" is unknown`},
		{job.Dream5{Folder: folder, Baselines: []string{"foo"}}, "baselines", `"foo" is unknown`},
		{job.Dream5{Folder: folder, Baselines: []string{"clr", "clr"}}, "baselines", "twice"},
		{job.Dream5{Folder: folder, Bootstrap: job.Bootstrap{Resamples: "1"}}, "resamples", "neither a number"},
		{job.Dream5{Folder: folder, Bootstrap: job.Bootstrap{Seed: -1}}, "seed", "-1"},
		{job.Dream5{Folder: folder, Method: job.Method{Penalty: "-1"}}, "penalty", "-1"},
	} {
		_, err := Run(t.Context(), c.d, Host{})
		wrong := new(job.Error)
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.d, err, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, job.Dream5{Folder: challenge(t), Solvers: fast}, Host{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
