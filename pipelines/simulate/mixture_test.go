package simulate

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/dense"
)

func TestMixed(t *testing.T) {
	sizes := map[int]bool{}
	standardised, unequal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		largest := rapid.SampledFrom([]int{0, 15, 40, 80}).Draw(t, "largest")
		p, err := Mixed(t.Context(), seeded(seed), largest)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Truth.Len()
		sizes[d] = true
		if d < 5 || d > max(largest, 5) || p.S.Len() != d {
			t.Errorf("d = %d, S has %d", d, p.S.Len())
		}
		if p.Samples < 5 || p.Samples > 1000 || float64(p.Samples) < float64(d)/12-0.5 {
			t.Errorf("M = %d with d = %d", p.Samples, d)
		}
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(p.Truth, make([]float64, d*d)); !ok {
			t.Error("Θ* is not positive definite")
		}
		if !p.S.Finite() || p.S.Asymmetry() != 0 || p.Truth.Asymmetry() != 0 {
			t.Error("S or Θ* is no symmetric finite matrix")
		}
		ones, equal := true, true
		for i := range d {
			ones = ones && p.S.At(i, i) == 1
			equal = equal && p.Truth.At(i, i) == p.Truth.At(0, 0)
		}
		if ones {
			standardised++
		} else if !equal {
			unequal++
		}
		again, err := Mixed(t.Context(), seeded(seed), largest)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.S.Raw(), p.S.Raw()) || !slices.Equal(again.Truth.Raw(), p.Truth.Raw()) {
			t.Error("the same seed gives another problem")
		}
	})
	if len(sizes) < 10 || standardised == 0 || unequal == 0 {
		t.Errorf("%d sizes, %d correlation matrices, %d of unequal scales", len(sizes), standardised, unequal)
	}
}
