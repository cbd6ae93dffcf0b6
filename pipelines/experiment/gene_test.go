package experiment

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// regulon is a small network in a file.
func regulon(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "regulon.sif")
	text := "a du b c d\ne du f\ng du g\nh du i j\nb du k\nl du l\nm\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGeneNMSE(t *testing.T) {
	rep := quick(t, geneNMSE())
	methods, values := column[string](t, rep, "method"), column[float64](t, rep, "nmse_db")
	at := make(map[string]float64)
	for i, m := range methods {
		at[m] = values[i] // of the last setting: the signed target
		if area := column[float64](t, rep, "auc")[i]; area < .5 || area > 1 {
			t.Errorf("%s: AUC %v", m, area)
		}
	}
	if math.Abs(at["BCD"]-at["G-ISTA"]) > .05 {
		t.Errorf("BCD %v dB, G-ISTA %v dB: one optimum", at["BCD"], at["G-ISTA"])
	}
	if at["BCD"] >= at["no edges"] {
		t.Errorf("BCD %v dB, no edges %v dB", at["BCD"], at["no edges"])
	}
}

func TestEcoliSubnetwork(t *testing.T) {
	r := &Run{Quick: true, Seed: 3, Network: regulon(t), memory: map[string]any{}}
	rep, err := runEcoliSubnetwork(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	methods, tpr := column[string](t, rep, "method"), column[float64](t, rep, "tpr")
	fpr := column[float64](t, rep, "fpr")
	if len(methods) != 3 || methods[0] != "BCD" || tpr[0] < .5 || fpr[0] > .3 {
		t.Errorf("%v: TPR %v, FPR %v", methods, tpr, fpr)
	}
	if !strings.Contains(rep.Setting, "13 genes, 7 pairs of them joined") {
		t.Errorf("setting %s", rep.Setting)
	}
	for _, row := range rep.Main {
		if row[1] == "the paper" {
			t.Error("the paper's figures stand beside another network")
		}
	}
}

// The paper's rates are those of its counts with the diagonal among the positives.
func TestPaperRates(t *testing.T) {
	for m, counts := range map[int][2]float64{10: {20, 100}, 100: {25, 21}} { // edges found, wrong pairs
		hits, wrong := counts[0]+43, counts[1]
		for k, v := range []float64{hits / (26 + 43), wrong / (903 - 26), wrong / (wrong + hits)} {
			if theirs := paperRates()[m][k]; math.Abs(v-theirs) > .001 {
				t.Errorf("M = %d: %v, the paper says %v", m, v, theirs)
			}
		}
	}
}

func TestRates(t *testing.T) {
	truth, z := dense.NewSym(4, nil), dense.NewSym(4, nil)
	truth.Set(0, 1, 1)
	truth.Set(0, 2, 1)
	z.Set(0, 1, -.1)
	z.Set(1, 2, .2) // of a common neighbour
	z.Set(1, 3, .2)
	r, err := ratesOf([]*dense.Sym{z}, []solver.Example{{Truth: truth}})
	if err != nil {
		t.Fatal(err)
	}
	if r.tpr[0] != .5 || r.fpr[0] != .5 || math.Abs(r.fdr[0]-2./3) > 1e-12 || r.siblings != .5 || r.diagonal != [3]float64{5. / 6, .5, 2. / 7} {
		t.Errorf("%+v", r)
	}
}

// Samples of one purpose change with their number and the copy, models do not; and
// targets have the signs that they say.
func TestGeneCases(t *testing.T) {
	r := &Run{Quick: true, Seed: 5}
	few, err := r.randomGeneCases(t.Context(), forTest, 3, 10, 0, signedTarget)
	if err != nil {
		t.Fatal(err)
	}
	many, err := r.randomGeneCases(t.Context(), forTest, 3, 40, 1, paperTarget)
	if err != nil {
		t.Fatal(err)
	}
	minus := 0
	for i, c := range few {
		if c.S.At(0, 1) == many[i].S.At(0, 1) || c.Samples != 10 || c.S.At(3, 3) != 1 {
			t.Errorf("network %d: the samples are the same", i)
		}
		for a := range geneDimension {
			for b := range a {
				v, w := c.Truth.At(a, b), many[i].Truth.At(a, b)
				if math.Abs(v) != w || w != 0 && w != geneWeight {
					t.Errorf("network %d: %v and %v", i, v, w)
				}
				if v < 0 {
					minus++
				}
			}
		}
	}
	if minus == 0 {
		t.Error("no edge activates")
	}
	n := randomGenes(rand.New(rand.NewPCG(1, 2)))
	if c := clustered(&genes.Network{Names: n.Names, Edges: n.Edges}); len(c.Names) != geneDimension || len(c.Edges) != len(n.Edges) {
		t.Errorf("clustered: %d genes, %d edges of %d", len(c.Names), len(c.Edges), len(n.Edges))
	}
}
