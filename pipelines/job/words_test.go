package job

import "testing"

func TestSuggestion(t *testing.T) {
	known := []string{"penalty", "population", "gap"}
	for word, want := range map[string]string{
		"penlty": "; did you mean penalty?", "gapp": "; did you mean gap?", "penalty": "; did you mean penalty?",
		"frobnicate": "", "": "", "x": "",
	} {
		if got := Suggestion(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
