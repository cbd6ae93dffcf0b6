package simulation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

// What is written reads back: samples of the covariance that the matrix says,
// the matrix itself, and its network; and a recovery takes all of it.
func TestSimulate(t *testing.T) {
	ctx := context.Background()
	for _, format := range []string{"parquet", "arrow", "csv"} {
		out := filepath.Join(t.TempDir(), "made")
		result, err := Run(ctx, job.Simulation{Family: "er", Dimension: 12, Samples: 4000, Density: 0.3, Seed: 3, Out: out, Format: format}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := result.Networks[0]
		if n.Samples != "er."+format || n.Precision != "er.precision."+format || n.Reference != "er.reference.csv" {
			t.Errorf("files %+v", n)
		}
		names, values, _, err := arrowio.ReadSquare(ctx, filepath.Join(out, n.Precision), arrowio.SampleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		theta := dense.NewSym(len(names), values)
		if len(names) != 12 || names[0] != "x01" || names[11] != "x12" {
			t.Errorf("variables %v", names)
		}
		spectrum, err := eigenvalues(theta)
		if err != nil || math.Abs(spectrum[0]-1) > 1e-12 || math.Abs(spectrum[11]-n.LargestEigenvalue) > 1e-12 || math.Abs(n.SmallestEigenvalue-1) > 1e-12 {
			t.Errorf("eigenvalues %v (%v); written %+v", spectrum, err, n)
		}
		ref, err := arrowio.ReadReference(ctx, filepath.Join(out, n.Reference), arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		at := func(name string) int { return slices.Index(names, name) }
		for k := range ref.Source {
			if joined := theta.At(at(ref.Source[k]), at(ref.Target[k])) != 0; joined != ref.Label[k] {
				t.Errorf("%s and %s: joined %v, labelled %v", ref.Source[k], ref.Target[k], joined, ref.Label[k])
			}
		}
		if ref.Len() != 12*11/2 || n.Pairs != ref.Len() || n.Edges != ref.Positives() {
			t.Errorf("%d pairs, %d edges, written %+v", ref.Len(), ref.Positives(), n)
		}
		recovered, err := recovery.Run(ctx, job.Job{
			Input: filepath.Join(out, n.Samples), Correlation: "none", Solvers: []string{"bcd"}, Penalty: "0.01",
			Reference: filepath.Join(out, n.Reference), Undirected: true, Out: out,
		}, recovery.Host{})
		if err != nil {
			t.Fatal(err)
		}
		// 4,000 samples of 12 variables leave little doubt.
		if in := recovered.Input; in.Samples != 4000 || in.Variables != 12 || recovered.Solvers[0].Metrics.Get("auroc") < 0.9 {
			t.Errorf("%+v, AUROC %v", in, recovered.Solvers[0].Metrics.Get("auroc"))
		}
		// The estimate has the true one's form, names and nearly its values.
		found, values, _, err := arrowio.ReadSquare(ctx, filepath.Join(out, "bcd.precision.parquet"), arrowio.SampleOptions{})
		if err != nil || !slices.Equal(found, names) {
			t.Fatalf("%v: %v", found, err)
		}
		var off, norm float64
		for k, v := range theta.Raw() {
			off += (v - values[k]) * (v - values[k])
			norm += v * v
		}
		if off > 0.02*norm {
			t.Errorf("the recovered matrix is off by %.1f %% of the squared norm", 100*off/norm)
		}
	}
}

func TestSimulateSeveral(t *testing.T) {
	ctx := context.Background()
	make := func(graphs, seed int) string {
		out := t.TempDir()
		if _, err := Run(ctx, job.Simulation{Family: "hub", Dimension: 10, Samples: 5, Graphs: graphs, Seed: seed, Name: "h", Out: out}, nil); err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := make(10, 1)
	names := testtable.List(t, out)
	if len(names) != 31 || !slices.Contains(names, "h-01.parquet") || !slices.Contains(names, "h-10.reference.csv") {
		t.Errorf("files %v", names)
	}
	read := func(folder, name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	again := make(10, 1)
	for _, name := range names {
		a, b := read(out, name), read(again, name)
		if name == "simulate.json" { // which names the folder
			b = bytes.ReplaceAll(b, []byte(again), []byte(out))
		}
		if !bytes.Equal(a, b) {
			t.Errorf("the same seed gives another %s", name)
		}
	}
	// The third of ten is the third of twelve.
	if more := make(12, 1); !bytes.Equal(read(out, "h-03.precision.parquet"), read(more, "h-03.precision.parquet")) {
		t.Error("a network depends on how many there are")
	}
	for _, other := range []string{"h-02.parquet", "h-01.precision.parquet"} {
		if bytes.Equal(read(out, "h-01.parquet"), read(out, other)) {
			t.Error("two files hold the same")
		}
	}
	if bytes.Equal(read(out, "h-01.parquet"), read(make(10, 2), "h-01.parquet")) {
		t.Error("two seeds give the same samples")
	}
}

// The document in simulate.json makes the same files again.
func TestSimulationDocument(t *testing.T) {
	out := t.TempDir()
	if _, err := Run(context.Background(), job.Simulation{Family: "block", Dimension: 8, Samples: 3, Scales: "0.7:1.3", Weights: "0.2:0.4", Out: out}, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "simulate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.Networks[0].Files {
		names = append(names, f.Name)
		text, err := os.ReadFile(filepath.Join(out, f.Name))
		if sum := sha256.Sum256(text); err != nil || f.Bytes != int64(len(text)) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v, and the file has %d bytes, %x, %v", f, len(text), sum, err)
		}
	}
	if want := []string{"block.parquet", "block.precision.parquet", "block.reference.csv"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	f, err := FamilyOf(r.Simulation)
	if err != nil || f.Resolved() != r.Family || r.Family.ScaleHigh != 1.3 || r.Family.WeightLow != 0.2 || r.Description != f.String() {
		t.Errorf("%v: %+v", err, r)
	}
	edges, err := arrowio.ReadEdges(context.Background(), filepath.Join(out, "block.reference.csv"), arrowio.ListOptions{})
	if err != nil || edges.Len() != 28 {
		t.Errorf("%d pairs: %v", edges.Len(), err)
	}
}

func TestSimulationRefuses(t *testing.T) {
	good := job.Simulation{Family: "er", Out: "x"}
	if err := Validate(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field  string
		change func(*job.Simulation)
	}{
		{"family", func(s *job.Simulation) { s.Family = "" }},
		{"family", func(s *job.Simulation) { s.Family = "rgn" }},
		{"dimension", func(s *job.Simulation) { s.Dimension = -4 }},
		{"dimension", func(s *job.Simulation) { s.Dimension = 1e6 }},
		{"samples", func(s *job.Simulation) { s.Samples = -1 }},
		{"samples", func(s *job.Simulation) { s.Samples = math.MaxInt }},
		{"graphs", func(s *job.Simulation) { s.Graphs = -1 }},
		{"seed", func(s *job.Simulation) { s.Seed = -1 }},
		{"density", func(s *job.Simulation) { s.Density = 1.5 }},
		{"links", func(s *job.Simulation) { s.Links = 2 }},
		{"groups", func(s *job.Simulation) { s.Family, s.Groups = "hub", 101 }},
		{"weights", func(s *job.Simulation) { s.Weights = "1:-1" }},
		{"weights", func(s *job.Simulation) { s.Weights = "wide" }},
		{"weights", func(s *job.Simulation) { s.Weights = "0:0" }},
		{"weights", func(s *job.Simulation) { s.Weights = "0:Inf" }},
		{"symmetrisation", func(s *job.Simulation) { s.Symmetrisation = "both" }},
		{"smallest_eigenvalue", func(s *job.Simulation) { s.SmallestEigenvalue = -1 }},
		{"scales", func(s *job.Simulation) { s.Scales = "0:1" }},
		{"scales", func(s *job.Simulation) { s.Scales = "-0.5" }},
		{"scales", func(s *job.Simulation) { s.Scales = "NaN" }},
		{"scales", func(s *job.Simulation) { s.Scales = "11" }},
		{"scales", func(s *job.Simulation) { s.Scales = "wide" }},
		{"neighbours", func(s *job.Simulation) { s.Neighbours = 2 }},
		{"neighbours", func(s *job.Simulation) { s.Family, s.Neighbours = "small-world", 3 }},
		{"neighbours", func(s *job.Simulation) { s.Family, s.Neighbours = "small-world", 100 }},
		{"rewiring", func(s *job.Simulation) { s.Family, s.Rewiring = "small-world", 1.5 }},
		{"rewiring", func(s *job.Simulation) { s.Rewiring = 0.5 }},
		{"weights", func(s *job.Simulation) { s.Family, s.Weights = "empty", "0:1" }},
		{"symmetrisation", func(s *job.Simulation) { s.Family, s.Symmetrisation = "empty", "avg" }},
		{"scales", func(s *job.Simulation) { s.Scales = "1.3:0.7" }},
		{"name", func(s *job.Simulation) { s.Name = "../x" }},
		{"format", func(s *job.Simulation) { s.Format = "xlsx" }},
		{"out", func(s *job.Simulation) { s.Out = "" }},
	} {
		s := good
		c.change(&s)
		var wrong *job.Error
		if err := Validate(s); !errors.As(err, &wrong) || wrong.Field != c.field || wrong.Reason == "" {
			t.Errorf("%+v: %v, want an error about %s", s, err, c.field)
		}
	}
}

// Every family of the package can be asked for, and every field has a
// description for its flag.
func TestSimulationFields(t *testing.T) {
	for _, f := range job.Fields(&job.Simulation{}, Facts()) {
		if f.Key == "family" && !slices.Equal(f.Choices, simulate.Graphs()) {
			t.Errorf("families %v, want %v", f.Choices, simulate.Graphs())
		}
		if f.Description == "" || strings.HasSuffix(f.Description, ".") {
			t.Errorf("%s is described by %q", f.Key, f.Description)
		}
	}
}

func TestSimulateCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := t.TempDir()
	_, err := Run(ctx, job.Simulation{Family: "er", Dimension: 10, Graphs: 1000, Out: out}, func(p progress.Update) {
		if p.Fraction > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if names := testtable.List(t, out); len(names) != 3 {
		t.Errorf("files %v, want those of one network", names)
	}
}
