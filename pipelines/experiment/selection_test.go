package experiment

import "testing"

// With 200 samples the default finds more than ebic does, and no rule more than the truth allows.
func TestSelection(t *testing.T) {
	rep := quick(t, penaltySelection())
	rules, samples := column[string](t, rep, "rule"), column[int64](t, rep, "samples")
	f1, fdr := column[float64](t, rep, "f1"), column[float64](t, rep, "fdr")
	at := make(map[string]float64)
	for i, rule := range rules {
		if samples[i] == 200 {
			at[rule] = f1[i]
		}
		if !(f1[i] >= 0 && f1[i] <= 1 && fdr[i] >= 0 && fdr[i] <= 1) {
			t.Errorf("%s, %d samples: F1 %v, FDR %v", rule, samples[i], f1[i], fdr[i])
		}
	}
	if len(at) != 7 || at["refit"] <= at["ebic"] {
		t.Errorf("F1 %v", at)
	}
	for rule, v := range at {
		if v > at[truthRule]+0.05 { // whose path has other penalties
			t.Errorf("%s has F1 %v, the best by the truth %v", rule, v, at[truthRule])
		}
	}
}
