package arrowio

import (
	"regexp"
	"strings"
)

// A selection chooses among names: see SampleOptions.Columns.
type selection struct{ columns, exclude []string }

func (o SampleOptions) selection() selection { return selection{o.Columns, o.Exclude} }

// of returns the positions of the names that are chosen, in their order.
func (s selection) of(path string, names []string) ([]int, error) {
	chosen := make([]bool, len(names))
	if len(s.columns) == 0 {
		for i := range chosen {
			chosen[i] = true
		}
	}
	for _, pattern := range s.columns {
		if err := eachMatch(path, names, pattern, func(i int) { chosen[i] = true }); err != nil {
			return nil, err
		}
	}
	for _, pattern := range s.exclude {
		if err := eachMatch(path, names, pattern, func(i int) { chosen[i] = false }); err != nil {
			return nil, err
		}
	}
	var positions []int
	for i, ok := range chosen {
		if ok {
			positions = append(positions, i)
		}
	}
	if len(positions) == 0 && len(names) > 0 {
		return nil, fault(path, "no variable is left of %d; leave fewer out", len(names))
	}
	return positions, nil
}

// eachMatch calls f with the positions of the names that a pattern matches, one at least.
func eachMatch(path string, names []string, pattern string, f func(i int)) error {
	match, found := Matcher(pattern), false
	for i, n := range names {
		if match(n) {
			f(i)
			found = true
		}
	}
	if !found {
		return fault(path, "there is no variable %q; the variables are %s", pattern, listOf(names))
	}
	return nil
}

// Matcher reports whether names are pattern, in which * stands for any letters and ?
// for one; a name is matched by itself, whatever its letters.
func Matcher(pattern string) func(name string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return func(name string) bool { return name == pattern }
	}
	expression := regexp.QuoteMeta(pattern)
	expression = strings.ReplaceAll(expression, `\*`, `(?s:.*)`)
	expression = strings.ReplaceAll(expression, `\?`, `(?s:.)`)
	of := regexp.MustCompile("^(?:" + expression + ")$")
	return func(name string) bool { return name == pattern || of.MatchString(name) }
}
