package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
)

func TestSuccess(t *testing.T) {
	truth := dense.NewSym(3, []float64{2, -1, 0, -1, 2, 0.5, 0, 0.5, 2})
	tests := []struct {
		name             string
		estimate         []float64
		strict, edgeOnly bool
	}{
		{"itself", truth.Raw(), true, true},
		{"other values", []float64{1, -9, 0, -9, 1, 9, 0, 9, 1}, true, true},
		{"negative zero", []float64{1, -9, math.Copysign(0, -1), -9, 1, 9, math.Copysign(0, -1), 9, 1}, true, true},
		{"a wrong edge", []float64{2, -1, 0.1, -1, 2, 0.5, 0.1, 0.5, 2}, false, true},
		{"a wrong sign", []float64{2, 1, 0, 1, 2, 0.5, 0, 0.5, 2}, false, false},
		{"a missing edge", []float64{2, -1, 0, -1, 2, 0, 0, 0, 2}, false, false},
		{"a missing diagonal", []float64{0, -1, 0, -1, 2, 0.5, 0, 0.5, 2}, false, true},
		{"a NaN edge", []float64{2, math.NaN(), 0, math.NaN(), 2, 0.5, 0, 0.5, 2}, false, false},
		{"a NaN elsewhere", []float64{2, -1, math.NaN(), -1, 2, 0.5, math.NaN(), 0.5, 2}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			estimate := dense.NewSym(3, tt.estimate)
			strict, err := SuccessStrict(estimate, truth)
			if err != nil {
				t.Fatal(err)
			}
			edgeOnly, err := SuccessEdgeOnly(estimate, truth)
			if err != nil {
				t.Fatal(err)
			}
			if strict != tt.strict || edgeOnly != tt.edgeOnly {
				t.Errorf("strict %v, edge-only %v; want %v, %v", strict, edgeOnly, tt.strict, tt.edgeOnly)
			}
		})
	}
}

func TestSupport(t *testing.T) {
	truth := dense.NewSym(3, []float64{2, -1, 0, -1, 2, 0.5, 0, 0.5, 2})
	estimate := dense.NewSym(3, []float64{2, 3, 1, 3, 2, 0, 1, 0, 0})
	c, err := Support(estimate, truth)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Confusion{TruePositives: 1, FalsePositives: 1, FalseNegatives: 1}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	estimate.Set(0, 2, math.NaN())
	if _, err := Support(estimate, truth); err == nil {
		t.Error("a NaN entry is accepted")
	}
}

func TestRates(t *testing.T) {
	c := Confusion{TruePositives: 3, FalsePositives: 1, TrueNegatives: 9, FalseNegatives: 2}
	if c.FDR() != 0.25 || c.TPR() != 0.6 || c.FPR() != 0.1 {
		t.Errorf("FDR %v, TPR %v, FPR %v; want 0.25, 0.6, 0.1", c.FDR(), c.TPR(), c.FPR())
	}
	var none Confusion
	if none.FDR() != 0 || !math.IsNaN(none.TPR()) || !math.IsNaN(none.FPR()) {
		t.Errorf("of nothing: FDR %v, TPR %v, FPR %v; want 0, NaN, NaN", none.FDR(), none.TPR(), none.FPR())
	}
}

func TestPopulationSupport(t *testing.T) {
	p, err := small().Population([]string{"A", "B", "C", "D"}, Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	// A and B are joined, which is right one way and wrong the other.
	got := p.Support(func(i, j int) bool { return i+j == 1 })
	if want := (Confusion{TruePositives: 1, FalsePositives: 1, TrueNegatives: 2, FalseNegatives: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNMSEClosedForms(t *testing.T) {
	var n NMSE
	if _, _, err := n.Decibels(); err == nil {
		t.Error("the NMSE of no graph is defined")
	}
	if _, _, err := n.MeanDecibels(); err == nil {
		t.Error("the mean NMSE of no graph is defined")
	}
	// X = 1.1·I against I is 0.01, that is −20 dB, at any size; X = 0 is 0 dB.
	one := dense.Identity(3)
	near := one.Clone()
	near.Scale(1.1)
	if err := n.Add(near, one); err != nil {
		t.Fatal(err)
	}
	const exact = 1e-12
	db, se, err := n.Decibels()
	if err != nil || math.Abs(db+20) > exact || !math.IsNaN(se) {
		t.Errorf("one graph: %v ± %v, %v; want −20 ± NaN", db, se, err)
	}
	if err := n.Add(dense.NewSym(5, nil), dense.Identity(5)); err != nil {
		t.Fatal(err)
	}
	db, _, err = n.Decibels()
	if want := 10 * math.Log10((0.03+5)/(3+5)); err != nil || math.Abs(db-want) > exact {
		t.Errorf("the paper's formula gives %v, %v, want %v", db, err, want)
	}
	db, se, err = n.MeanDecibels()
	if err != nil || math.Abs(db+10) > exact || math.Abs(se-10) > exact {
		t.Errorf("the mean of logarithms is %v ± %v, %v, want −10 ± 10", db, se, err)
	}
	if n.Graphs() != 2 {
		t.Errorf("%d graphs, want 2", n.Graphs())
	}
}

func TestNMSERefuses(t *testing.T) {
	var n NMSE
	bad := dense.NewSym(1, []float64{math.NaN()})
	for name, c := range map[string][2]*dense.Sym{
		"sizes":           {dense.Identity(2), dense.Identity(3)},
		"zero truth":      {dense.Identity(2), dense.NewSym(2, nil)},
		"NaN estimate":    {bad, dense.Identity(1)},
		"NaN truth":       {dense.Identity(1), bad},
		"infinite values": {dense.NewSym(1, []float64{math.Inf(1)}), dense.Identity(1)},
	} {
		if err := n.Add(c[0], c[1]); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if n.Graphs() != 0 {
		t.Errorf("%d graphs after refusals only", n.Graphs())
	}
	for _, f := range []func(a, b *dense.Sym) (bool, error){SuccessStrict, SuccessEdgeOnly} {
		if _, err := f(dense.Identity(2), dense.Identity(3)); err == nil {
			t.Error("matrices of two sizes are compared")
		}
	}
	if _, err := Support(dense.Identity(2), dense.Identity(3)); err == nil {
		t.Error("supports of two sizes are compared")
	}
}

// The standard error by the delta method must predict how the figure scatters
// over repetitions.
func TestDecibelsStandardError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const graphs, repetitions = 40, 2000
	var values []float64
	var predicted float64
	for range repetitions {
		var n NMSE
		for range graphs {
			scale := 1 + rng.Float64() // norms and errors are correlated
			truth := dense.NewSym(1, []float64{scale})
			estimate := dense.NewSym(1, []float64{scale * (1 + 0.3*rng.NormFloat64())})
			if err := n.Add(estimate, truth); err != nil {
				t.Fatal(err)
			}
		}
		v, se, err := n.Decibels()
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
		predicted += se / repetitions
	}
	_, se := MeanAndError(values)
	scatter := se * math.Sqrt(repetitions)
	// The scatter itself is known to 1/√(2·2000) = 1.6 %; the first-order
	// formula is biased low by a few per cent at 40 graphs.
	if r := predicted / scatter; r < 0.9 || r > 1.08 {
		t.Errorf("predicted standard error %.4f, scatter %.4f", predicted, scatter)
	}
}

func TestMeanAndError(t *testing.T) {
	m, se := MeanAndError([]float64{1, 2, 3, 4})
	if m != 2.5 || math.Abs(se-math.Sqrt(5./3/4)) > 1e-15 {
		t.Errorf("%v ± %v, want 2.5 ± √(5/12)", m, se)
	}
	if m, se := MeanAndError([]float64{7}); m != 7 || !math.IsNaN(se) {
		t.Errorf("of one value: %v ± %v", m, se)
	}
	if m, _ := MeanAndError(nil); !math.IsNaN(m) {
		t.Errorf("the mean of nothing is %v", m)
	}
}

// The difference of two NMSE has the error of what does not vary together: of an estimate
// with itself none, and of one whose error is twice another's on every graph none either.
func TestNMSEDifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	var a, b, c, other NMSE
	for range 10 {
		truth := dense.Identity(2)
		truth.Scale(1 + rng.Float64())
		off := truth.Clone()
		off.Set(0, 1, rng.NormFloat64())
		further := truth.Clone()
		further.Set(0, 1, math.Sqrt2*off.At(0, 1))
		alone := truth.Clone()
		alone.Set(0, 1, rng.NormFloat64())
		for _, x := range []struct {
			n *NMSE
			e *dense.Sym
		}{{&a, off}, {&b, further}, {&c, alone}} {
			if err := x.n.Add(x.e, truth); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d, se, err := b.Difference(&a); err != nil || math.Abs(d-10*math.Log10(2)) > 1e-12 || se > 1e-12 {
		t.Errorf("twice the error is %v ± %v dB more (%v)", d, se, err)
	}
	va, _, _ := a.Decibels()
	vc, _, _ := c.Decibels()
	d, se, err := c.Difference(&a)
	if err != nil || math.Abs(d-(vc-va)) > 1e-12 || !(se > 0.1) {
		t.Errorf("%v ± %v (%v), want %v", d, se, err, vc-va)
	}
	if _, _, err := a.Difference(&other); err == nil {
		t.Error("an NMSE of no graphs is compared")
	}
	if _, _, err := other.Difference(&other); err == nil {
		t.Error("two NMSE of no graphs are compared")
	}
}
