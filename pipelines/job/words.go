package job

import (
	"fmt"
	"strings"
)

// OneOf is "a, b or c".
func OneOf(words []string) string { return listed(words, " or ") }

// AllOf is "a, b and c".
func AllOf(words []string) string { return listed(words, " and ") }

func listed(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + conjunction + words[last]
}

// WithArticle is "a number" or "an array".
func WithArticle(noun string) string {
	if noun != "" && strings.Contains("aeiou", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

// Suggestion is "; did you mean x?" for the known word nearest to a mistyped
// one, or nothing where none is near.
func Suggestion(word string, known []string) string {
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if n := distance(word, k); n <= least {
			best, least = k, n-1
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is that of Levenshtein, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
