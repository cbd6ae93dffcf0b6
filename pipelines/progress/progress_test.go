package progress

import (
	"math"
	"testing"
	"time"
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

// What is left is said of a stage that has gone on for some seconds.
func TestLeft(t *testing.T) {
	var last Update
	r := Begin(func(u Update) { last = u }, Halving, "bcd")
	r.started = time.Now().Add(-30 * time.Second)
	if r.Report(0.01, ""); last.Left != 0 {
		t.Errorf("%v are left of what has hardly begun", last.Left)
	}
	if r.Report(0.75, ""); last.Left < 9*time.Second || last.Left > 12*time.Second {
		t.Errorf("%v are left after three quarters of 30 s", last.Left)
	}
	if r.Done(""); last.Left != 0 {
		t.Errorf("%v are left at the end", last.Left)
	}
	r = Begin(func(u Update) { last = u }, Halving, "bcd")
	if r.Report(0.5, ""); last.Left != 0 {
		t.Errorf("%v are left in the first second", last.Left)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Second: "20 seconds", 80 * time.Second: "80 seconds", 100 * time.Second: "2 minutes",
		3 * time.Hour: "3 hours", 1234 * time.Hour: "50 days", time.Second: "1 second", 0: "1 second",
	} {
		if got := Roughly(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
