package progress

import (
	"math"
	"testing"
)

func TestReporter(t *testing.T) {
	var told []Update
	r := Begin(func(u Update) { told = append(told, u) }, Solving, "bcd")
	for _, fraction := range []float64{0.25, 0.1, math.NaN(), 0.5, 7} {
		r.Report(fraction, "detail")
	}
	r.Done("end")
	want := []float64{math.NaN(), 0.25, 0.25, 0.25, 0.5, 1, 1} // never less than before
	if len(told) != len(want) {
		t.Fatalf("%d updates, want %d", len(told), len(want))
	}
	for i, u := range told {
		if u.Stage != Solving || u.Solver != "bcd" || u.Fraction != want[i] && !math.IsNaN(want[i]+u.Fraction) {
			t.Errorf("update %d: %+v, want the fraction %v", i, u, want[i])
		}
		if last := i == len(told)-1; u.Done != last || last && (u.Detail != "end" || u.Elapsed <= 0) {
			t.Errorf("update %d: %+v", i, u)
		}
	}
	if r.Silent() || !Begin(nil, Reading, "").Silent() {
		t.Error("a reporter is silent when it has nothing to call")
	}
}

func TestCount(t *testing.T) {
	if Count(1, "edge") != "1 edge" || Count(0, "edge") != "0 edges" || Count(5, "edge") != "5 edges" {
		t.Error(Count(1, "edge"), Count(0, "edge"), Count(5, "edge"))
	}
}
