package solver_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestLikelyThreshold(t *testing.T) {
	p := dense.NewSym(4, nil)
	for k, v := range []float64{1, 0.9, 0.5, 0.5, 0.2, 0.05} { // errors 0, .1, .5, .5, .8, .95
		pair := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}[k]
		p.Set(pair[0], pair[1], v)
	}
	for fdr, want := range map[float64]float64{
		1e-9: 1, 0.05: 0.9, 0.2: 0.9, // one more would be .2, but the two of .5 stay together
		0.275: 0.5, 0.37: 0.5, 0.38: 0.2, 0.475: 0.05, 1: 0.05,
	} {
		if got := solver.LikelyThreshold(p, fdr+1e-12); got != want {
			t.Errorf("fdr %v: threshold %v, want %v", fdr, got, want)
		}
	}
	for name, none := range map[string]*dense.Sym{"unlikely": dense.NewSym(3, nil), "one variable": dense.NewSym(1, nil)} {
		if got := solver.LikelyThreshold(none, 0.9); got <= 1 {
			t.Errorf("%s: threshold %v", name, got)
		}
	}
}

// With probabilities that hold, the share of false edges is the one asked for.
func TestKeepLikely(t *testing.T) {
	const d, fdr = 300, 0.2
	rng := rand.New(rand.NewPCG(1, 1))
	theta, z, p, truth := dense.Identity(d), dense.Identity(d), dense.NewSym(d, nil), dense.NewSym(d, nil)
	for i := range d {
		for j := range i {
			v := math.Pow(rng.Float64(), 4)
			p.Set(i, j, v)
			theta.Set(i, j, 0.01)
			if rng.IntN(2) == 0 {
				z.Set(i, j, 0.02)
			}
			if rng.Float64() < v {
				truth.Set(i, j, 1)
			}
		}
	}
	before := z.Clone()
	est := &solver.Estimate{Precision: theta, Support: z, Probability: p}
	kept, expected := est.KeepLikely(fdr)
	if kept != est.Edges() || expected > fdr || expected < fdr-0.001 {
		t.Fatalf("%d kept, %d edges, %v expected to be false", kept, est.Edges(), expected)
	}
	threshold := solver.LikelyThreshold(p, fdr)
	wrong := 0
	for i := range d {
		for j := range i {
			edge := p.At(i, j) >= threshold
			if est.IsEdge(i, j) != edge || est.IsEdge(j, i) != edge {
				t.Fatalf("pair (%d,%d) of probability %v is an edge: %v", i, j, p.At(i, j), est.IsEdge(i, j))
			}
			if edge && truth.At(i, j) == 0 {
				wrong++
			}
		}
	}
	// Some 6,000 pairs are kept: the standard error is about .005.
	if share := float64(wrong) / float64(kept); math.Abs(share-fdr) > 0.025 {
		t.Errorf("%v of %d pairs are false", share, kept)
	}
	if !slices.Equal(z.Raw(), before.Raw()) || est.NonZeros() == kept {
		t.Error("the support has changed")
	}
}
