package simulation

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/pipelines/table"
)

// regulon is a network with two ways to write a sign, a self-loop, a cycle and a gene
// without an edge.
const regulon = `a ac b c d
b re e
c + e
d - e
e un f
f ac f
f ac g
g re f
h
i ac j
`

// What is written reads back: the table, the network with its signs, the pairs; and
// a recovery takes it.
func TestGenes(t *testing.T) {
	ctx := context.Background()
	network := testtable.File(t, "regulon.sif", regulon)
	for _, format := range []string{"parquet", "arrow", "csv"} {
		out := filepath.Join(t.TempDir(), "made")
		r, err := RunGenes(ctx, job.GeneSimulation{Network: network, Background: 4, Decoys: 1, Samples: 60, Seed: 2, Out: out, Format: format}, table.Files{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := r.Sets[0]
		if n.Variables != 14 || n.Background != 4 || n.Edges != 10 || n.Listed != 9 || n.Pairs != 9*9 || r.NetworkSHA256 == "" {
			t.Errorf("%+v", n)
		}
		sif, err := arrowio.ReadSIF(ctx, filepath.Join(out, n.SIF), arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		signs := make(map[string]string)
		for i, s := range sif.Source {
			signs[s+sif.Target[i]] = sif.Type[i]
		}
		for pair, kind := range map[string]string{"ab": "ac", "be": "re", "ce": "ac", "de": "re", "fg": "ac", "gf": "re", "ij": "ac"} {
			if signs[pair] != kind {
				t.Errorf("%s is %q, want %q", pair, signs[pair], kind)
			}
		}
		if len(signs) != 10 || !slices.Contains(sif.Nodes, "h") {
			t.Errorf("%v, %v", signs, sif.Nodes)
		}
		ref, err := arrowio.ReadReference(ctx, filepath.Join(out, n.Reference), arrowio.ListOptions{})
		if err != nil || ref.Len() != n.Pairs || ref.Positives() != n.Edges {
			t.Errorf("%v, %v", ref, err)
		}
		listed, err := os.ReadFile(filepath.Join(out, n.Regulators))
		if err != nil || len(strings.Fields(string(listed))) != n.Listed {
			t.Errorf("regulators %q, %v", listed, err)
		}
		if names := testtable.List(t, out); len(n.Files) < 6 || len(names) != len(n.Files)+1 {
			t.Errorf("files %v, listed %v", names, n.Files)
		}
		recovered, err := recovery.Run(ctx, job.Job{
			Input: filepath.Join(out, n.Samples), Solvers: []string{"bcd"}, Penalty: "0.3",
			Reference: filepath.Join(out, n.Reference), Undirected: true, Out: filepath.Join(out, "recovered"),
		}, recovery.Host{})
		if err != nil || recovered.Reference.Positives != 9 {
			t.Errorf("%+v, %v", recovered, err)
		}
	}
}

// rows are those of a CSV file, the header first.
func rows(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The parameters written are those that the samples follow.
func TestGenesParameters(t *testing.T) {
	out := t.TempDir()
	_, err := RunGenes(context.Background(), job.GeneSimulation{Genes: 30, Samples: 40, Noise: "0", Correlated: "0", Seed: 4, Out: out, Format: "csv"}, table.Files{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	samples, edges := rows(t, filepath.Join(out, "syntren.csv")), rows(t, filepath.Join(out, "syntren.network.csv"))
	value := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	column := func(name string) []float64 {
		at := slices.Index(samples[0], name)
		var v []float64
		for _, row := range samples[1:] {
			v = append(v, value(row[at]))
		}
		return v
	}
	regulators := make(map[string]int)
	for _, e := range edges[1:] {
		regulators[e[1]]++
	}
	checked := 0
	for _, e := range edges[1:] { // source, target, sign, half, exponent, rate
		if regulators[e[1]] > 1 {
			continue
		}
		checked++
		k, n := value(e[3]), value(e[4])
		x, y := column(e[0]), column(e[1])
		for r, v := range x {
			want := (1 + math.Pow(k, n)) * math.Pow(v, n) / (math.Pow(k, n) + math.Pow(v, n))
			if e[2] == "-1" {
				want = 1 - want
			}
			if math.Abs(want-y[r]) > 1e-6 {
				t.Errorf("%v: sample %d is %v, the law says %v", e, r, y[r], want)
			}
		}
	}
	if checked < 5 {
		t.Errorf("%d laws of one regulator", checked)
	}
}

// Every family and marginal distribution makes tables, the same ones each time,
// whatever the folder and however many there are.
func TestGenesFamilies(t *testing.T) {
	ctx := context.Background()
	for _, family := range genes.Families() {
		s := job.GeneSimulation{Family: family, Genes: 25, Samples: 20, Marginals: "noisy", Seed: 6}
		one, three := s, s
		one.Out, three.Out, three.Sets = t.TempDir(), t.TempDir(), 3
		if _, err := RunGenes(ctx, one, table.Files{}, nil); err != nil {
			t.Fatal(err)
		}
		r, err := RunGenes(ctx, three, table.Files{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{".parquet", ".network.parquet", ".genes.parquet", ".network.sif", ".reference.csv", ".regulators.txt"} {
			a, err := os.ReadFile(filepath.Join(one.Out, family+kind))
			b, err2 := os.ReadFile(filepath.Join(three.Out, family+"-1"+kind))
			if err != nil || err2 != nil || !bytes.Equal(a, b) {
				t.Errorf("%s%s: %v, %v, the same: %v", family, kind, err, err2, bytes.Equal(a, b))
			}
		}
		written, err := os.ReadFile(filepath.Join(three.Out, "genes.json"))
		var again GeneResult
		if err != nil || json.Unmarshal(written, &again) != nil || len(again.Sets) != 3 || again.Sets[2].Name != family+"-3" || again.Sets[2].Files[0] == r.Sets[0].Files[0] {
			t.Errorf("%s: genes.json %s, %v", family, written, err)
		}
	}
}

func TestGenesRefuses(t *testing.T) {
	network := testtable.File(t, "regulon.sif", regulon)
	for _, c := range []struct {
		s           job.GeneSimulation
		field, want string
	}{
		{job.GeneSimulation{}, "out", "no folder is named"},
		{job.GeneSimulation{Family: "er"}, "family", `"er" is unknown; choose syntren,`},
		{job.GeneSimulation{Family: "gnw", Decoys: 2}, "decoys", "the family gnw has none"},
		{job.GeneSimulation{Family: "gnw", Network: network}, "network", "the family gnw has none"},
		{job.GeneSimulation{Unsigned: true}, "unsigned", "the network is random"},
		{job.GeneSimulation{Network: network, Links: 2}, "links", "is read from a file"},
		{job.GeneSimulation{Network: network, Genes: 9}, "genes", "the largest connected part of the network has 7"},
		{job.GeneSimulation{Network: network, Background: 8}, "background", "the largest connected part of the network has 7"},
		{job.GeneSimulation{Network: network + ".gz"}, "network", "there is no such file"},
		{job.GeneSimulation{Network: testtable.File(t, "loops.sif", "a ac a\nb re b\n")}, "network", "no gene of the network regulates another"},
		{job.GeneSimulation{Network: testtable.File(t, "none.csv", "source,target,label\na,b,0\n")}, "network", "the network has no edges"},
		{job.GeneSimulation{Network: testtable.File(t, "clash.csv", "bgr_a,b\nb,c\nc,d\nd,e\n"), Background: 4}, "network", "the gene bgr_a is called like one of the background"},
		{job.GeneSimulation{Genes: 3}, "genes", "3 genes are too few"},
		{job.GeneSimulation{Genes: 5001}, "genes", "give at most 5000"},
		{job.GeneSimulation{Background: 2}, "background", "give at least 4, or none"},
		{job.GeneSimulation{Genes: 10, Regulators: 10}, "regulators", "give from 1 to 9"},
		{job.GeneSimulation{Links: .5}, "links", "give from 1 to 20"},
		{job.GeneSimulation{Samples: 1}, "samples", "give at least 2"},
		{job.GeneSimulation{Samples: 1 << 40}, "samples", "would not fit into memory"},
		{job.GeneSimulation{Sets: -1}, "sets", "-1 is negative"},
		{job.GeneSimulation{Seed: -1}, "seed", "-1 is negative"},
		{job.GeneSimulation{Decoys: -1}, "decoys", "-1 is negative"},
		{job.GeneSimulation{Noise: "loud"}, "noise", `"loud" is not a number from 0 to 2`},
		{job.GeneSimulation{InputNoise: "NaN"}, "input_noise", `"NaN" is not a number`},
		{job.GeneSimulation{Activators: "1.1"}, "activators", "from 0 to 1"},
		{job.GeneSimulation{Marginals: "bimodal"}, "marginals", `"bimodal" is unknown`},
		{job.GeneSimulation{Name: "a/b"}, "name", "is not the name of a file"},
	} {
		if c.field != "out" {
			c.s.Out = filepath.Join(t.TempDir(), "none")
		}
		_, err := RunGenes(context.Background(), c.s, table.Files{}, nil)
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
		if _, err := os.Stat(c.s.Out); c.s.Out != "" && err == nil {
			t.Errorf("%+v leaves a folder", c.s)
		}
	}
}

func TestGenesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := t.TempDir()
	_, err := RunGenes(ctx, job.GeneSimulation{Genes: 10, Samples: 10, Sets: 1000, Out: out}, table.Files{}, func(p progress.Update) {
		if p.Fraction > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if names := testtable.List(t, out); len(names) != 6 {
		t.Errorf("files %v, want those of one set", names)
	}
}
