package experiment

import "testing"

// Auto gains where ranks gain much, and loses nothing on Gaussian samples.
func TestCorrelationAutoGains(t *testing.T) {
	rep := quick(t, correlationChoice())
	names, gain := column[string](t, rep, "distortion"), column[float64](t, rep, "auto_gain")
	for i, name := range names {
		switch name {
		case "none", "uniform":
			if gain[i] != 0 {
				t.Errorf("%s: auto gains %v", name, gain[i])
			}
		case "exponential", "cube", "1 % of cells 15 deviations off":
			if gain[i] < 0.1 {
				t.Errorf("%s: auto gains %v, want a tenth at least", name, gain[i])
			}
		}
	}
}
