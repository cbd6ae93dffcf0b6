package experiment

import (
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/inference"
)

// What the tables show is counted right: where the truth is what was estimated from, tests
// find what there is and nothing else.
func TestJudgedPairs(t *testing.T) {
	const d, m = 4, 500
	truth := dense.Identity(d)
	truth.Set(0, 1, -0.5)
	truth.Set(2, 3, 0.02) // too little to be found
	s := truth.Clone()
	if _, ok := dense.NewWorkspace(dense.Default(), d).Inverse(s, truth); !ok {
		t.Fatal("not definite")
	}
	tests, err := inference.PartialCorrelations(t.Context(), solver.Problem{S: s, Samples: m}, inference.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got := judgePairs(tests, truth)
	if got.power != 0.5 || got.fdr != 0 || got.covered != 1 || got.nulls != 1 || got.size5 != 0 || got.size1 != 0 {
		t.Errorf("%+v", got)
	}
	if none := judgePairs(tests, dense.Identity(d)); !math.IsNaN(none.power) || none.fdr != 1 || math.Abs(none.nulls-5./6) > 1e-12 || math.Abs(none.size1-1./6) > 1e-12 {
		t.Errorf("%+v", none)
	}
}

func TestCalibration(t *testing.T) {
	rep := quick(t, calibration())
	figures, of, mean := column[string](t, rep, "figure"), column[string](t, rep, "of"), column[float64](t, rep, "mean")
	at := make(map[string]float64)
	for i, f := range figures {
		at[of[i]+" "+f] = mean[i]
	}
	for _, name := range calibrationSolvers() {
		if k := at[name+" kept_5"]; !(k >= at[name+" kept_1"]) || !(at[name+" false_5"] <= k) || !(at[name+" selected"] > 0) {
			t.Errorf("%s keeps %v, false %v, selected %v", name, k, at[name+" false_5"], at[name+" selected"])
		}
	}
	// A few small tables, whose pairs depend on each other: .05 and .95 within what chance does.
	if size := at["partial-correlation size_05"]; !(size > 0.01 && size < 0.1) {
		t.Errorf("%v of the p-values of pairs without an edge are small", size)
	}
	if c := at["partial-correlation coverage_others"]; !(c > 0.9) {
		t.Errorf("intervals hold %v", c)
	}
}
