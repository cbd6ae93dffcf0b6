package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestReliabilityByHand(t *testing.T) {
	var r, rest Reliability
	add := func(to *Reliability, p float64, edge bool) {
		t.Helper()
		if err := to.Add(p, edge); err != nil {
			t.Fatal(err)
		}
	}
	// Two pairs in [.2, .3), one of them an edge; one pair at each end, rightly.
	add(&r, 0.2, true)
	add(&r, 0.25, false)
	add(&rest, 0, false)
	add(&rest, 1, true)
	r.Merge(&rest)
	bins := r.Bins()
	if b := bins[2]; b.Pairs != 2 || math.Abs(b.Said-0.225) > 1e-15 || b.Held != 0.5 {
		t.Errorf("the third bin is %+v", b)
	}
	if bins[0].Pairs != 1 || bins[0].Held != 0 || bins[9].Pairs != 1 || bins[9].Said != 1 || !math.IsNaN(bins[5].Held) || r.Pairs() != 4 {
		t.Errorf("bins %+v", bins)
	}
	if got, want := r.ExpectedError(), 2*0.275/4; math.Abs(got-want) > 1e-15 {
		t.Errorf("expected error %v, want %v", got, want)
	}
	if got, want := r.Brier(), (0.64+0.0625)/4; math.Abs(got-want) > 1e-15 {
		t.Errorf("Brier %v, want %v", got, want)
	}
	for _, wrong := range []float64{-1e-9, 1.001, math.NaN(), math.Inf(1)} {
		if err := r.Add(wrong, true); err == nil || r.Pairs() != 4 {
			t.Errorf("%v is taken for a probability", wrong)
		}
	}
	var none Reliability
	if !math.IsNaN(none.Brier()) || !math.IsNaN(none.ExpectedError()) {
		t.Error("no pair has a figure")
	}
}

// Edges drawn with their probability are reliable; half of that said is not.
func TestReliabilityOfDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	var right, wrong Reliability
	for range 20000 {
		p := rng.Float64()
		edge := rng.Float64() < p
		if err := right.Add(p, edge); err != nil {
			t.Fatal(err)
		}
		if err := wrong.Add(p/2, edge); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range right.Bins() {
		if se := math.Sqrt(b.Said * (1 - b.Said) / float64(b.Pairs)); math.Abs(b.Said-b.Held) > 5*se {
			t.Errorf("said %v, held %v ± %v", b.Said, b.Held, se)
		}
	}
	// E p(1−p) = 1/6, and a shift of p/2 costs E (p/2)² = 1/12 more and errs by 1/4.
	if b := right.Brier(); math.Abs(b-1./6) > 0.01 {
		t.Errorf("Brier %v, want 1/6", b)
	}
	if b, e := wrong.Brier(), wrong.ExpectedError(); math.Abs(b-0.25) > 0.01 || math.Abs(e-0.25) > 0.01 {
		t.Errorf("Brier %v and error %v, want 1/4 both", b, e)
	}
}
