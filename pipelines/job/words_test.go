package job

import (
	"strings"
	"testing"
)

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

func TestWithArticle(t *testing.T) {
	for noun, want := range map[string]string{"array": "an array", "object": "an object", "integer": "an integer", "number or word": "a number or word", "": "a "} {
		if got := WithArticle(noun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	_, err := Read(strings.NewReader(`{"threads": [1]}`))
	if err == nil || !strings.Contains(err.Error(), "the value must be an integer") {
		t.Error(err)
	}
}
