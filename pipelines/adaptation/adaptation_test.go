package adaptation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// Tables have the sizes that Draw promises, of the standardised set with unit variances in
// truth and sample, and all families come.
func TestDraw(t *testing.T) {
	for _, set := range []string{adapt.Standardised, adapt.EqualScales} {
		families := make(map[string]bool)
		for k := range 80 {
			e, family, err := Draw(t.Context(), rand.New(rand.NewPCG(1, uint64(k))), set)
			if err != nil {
				t.Fatal(err)
			}
			families[family] = true
			d := e.S.Len()
			if ratio := float64(d) / float64(e.Samples); d < leastDimension || d >= mostDimension || e.Samples < leastSamples || ratio > mostRatio+1 || ratio < leastRatio-0.01 {
				t.Errorf("%d variables, %d samples", d, e.Samples)
			}
			inverse := dense.NewSym(d, nil)
			if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(inverse, e.Truth); !ok {
				t.Fatal("the truth is not positive definite")
			}
			for i := range d {
				standard := math.Abs(inverse.At(i, i)-1) < 1e-9 && e.S.At(i, i) == 1
				equal := math.Abs(e.Truth.At(i, i)-e.Truth.At(0, 0)) < 1e-12
				if set == adapt.Standardised && !standard || set == adapt.EqualScales && !equal {
					t.Errorf("%s: variable %d has the variances %v and %v, and %v in the truth", set, i, inverse.At(i, i), e.S.At(i, i), e.Truth.At(i, i))
				}
			}
		}
		if len(families) != 6 || families["band"] || families["small-world"] {
			t.Errorf("families %v", families)
		}
	}
}

// Tuning is repeated to the bit, leaves the model as it was, and moves its weights.
func TestTune(t *testing.T) {
	m, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(m.Values())
	e, _, err := DrawOf(t.Context(), rand.New(rand.NewPCG(9, 9)), adapt.Standardised, 8, 30)
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for _, workers := range []int{1, 3} {
		last := 0.0
		tuned, families, err := Tune(t.Context(), m, e.Problem(), Settings{Backend: glad.CPU{Workers: workers}, Report: func(done float64, _ string) { last = done }})
		if err != nil {
			t.Fatal(err)
		}
		graphs := 0
		for i, f := range families {
			if graphs += f.Graphs; i > 0 && f.Graphs > families[i-1].Graphs {
				t.Errorf("families %v", families)
			}
		}
		if graphs != nearest || last != 1 || !slices.Equal(m.Values(), before) {
			t.Errorf("%d graphs, done %v", graphs, last)
		}
		if first == nil {
			first = slices.Clone(tuned.Values())
		} else if !slices.Equal(first, tuned.Values()) {
			t.Error("other workers give other weights")
		}
	}
}
