package simulate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/dense"
)

func TestStandardised(t *testing.T) {
	sizes, empty, full := map[int]bool{}, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		largest := rapid.SampledFrom([]int{0, 15, 40, 80}).Draw(t, "largest")
		p, err := Standardised(t.Context(), seeded(seed), largest)
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
		sigma := dense.NewSym(d, nil)
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(sigma, p.Truth); !ok {
			t.Fatal("Θ* is not positive definite")
		}
		edges := 0
		for i := range d {
			if p.S.At(i, i) != 1 || math.Abs(sigma.At(i, i)-1) > 1e-9 {
				t.Errorf("variable %d has the variances %v in S and %v in the truth, want 1", i, p.S.At(i, i), sigma.At(i, i))
			}
			for j := range i {
				if math.Abs(p.S.At(i, j)) > 1+1e-12 || p.S.At(i, j) != p.S.At(j, i) {
					t.Errorf("S(%d, %d) is %v", i, j, p.S.At(i, j))
				}
				if p.Truth.At(i, j) != 0 {
					edges++
				}
			}
		}
		if edges == 0 {
			empty++
		} else {
			full++
		}
		again, err := Standardised(t.Context(), seeded(seed), largest)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.S.Raw(), p.S.Raw()) || !slices.Equal(again.Truth.Raw(), p.Truth.Raw()) {
			t.Error("the same seed gives another problem")
		}
	})
	if len(sizes) < 10 || empty == 0 || full == 0 {
		t.Errorf("%d sizes, %d empty networks of %d", len(sizes), empty, empty+full)
	}
}
