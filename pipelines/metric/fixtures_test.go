package metric

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
)

// The figures in the file were computed by an independent implementation.
func TestMetricsFixtures(t *testing.T) {
	raw, err := os.ReadFile("testdata/metrics_fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Truth      [][][]float64 `json:"theta_true"`
		Prediction [][][]float64 `json:"pred"`
		NMSE       float64       `json:"nmse_db"`
		Strict     float64       `json:"ps_strict"`
		EdgeOnly   float64       `json:"ps_edge_only"`
		AUC        float64       `json:"auc_offdiag_abs_upper_mean"`
	}
	if err := json.Unmarshal(raw, &fixture); err != nil {
		t.Fatal(err)
	}
	var nmse NMSE
	var strict, edgeOnly, auc []float64
	for g := range fixture.Truth {
		truth, estimate := symmetric(fixture.Truth[g]), symmetric(fixture.Prediction[g])
		if err := nmse.Add(estimate, truth); err != nil {
			t.Fatal(err)
		}
		s, err := SuccessStrict(estimate, truth)
		if err != nil {
			t.Fatal(err)
		}
		e, err := SuccessEdgeOnly(estimate, truth)
		if err != nil {
			t.Fatal(err)
		}
		strict, edgeOnly = append(strict, indicator(s)), append(edgeOnly, indicator(e))
		var scores []float64
		var positive []bool
		for i := range truth.Len() {
			for j := i + 1; j < truth.Len(); j++ {
				scores = append(scores, math.Abs(estimate.At(i, j)))
				positive = append(positive, truth.At(i, j) != 0)
			}
		}
		r, err := Rank(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		auc = append(auc, r.AUROC)
	}
	db, _, err := nmse.Decibels()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"nmse_db", db, fixture.NMSE},
		{"ps_strict", mean(strict), fixture.Strict},
		{"ps_edge_only", mean(edgeOnly), fixture.EdgeOnly},
		{"auc_offdiag_abs_upper_mean", mean(auc), fixture.AUC},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-12) { // the fixture's own digits
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func symmetric(rows [][]float64) *dense.Sym {
	s := dense.NewSym(len(rows), nil)
	for i, row := range rows {
		copy(s.Row(i), row)
	}
	return s
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
