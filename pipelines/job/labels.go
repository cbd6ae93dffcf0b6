package job

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of Job.Labels.
const (
	// MaxLabels is the most labels of a job.
	MaxLabels = 32
	// MaxLabelKey is the most bytes of a label's key, MaxLabelValue those of its
	// value.
	MaxLabelKey   = 64
	MaxLabelValue = 256
	// LabelKeys is what keys are, as a regular expression.
	LabelKeys = `^[A-Za-z0-9_./-]+$`
)

// checkLabels reports the first label, by its key, that cannot be one.
func (j Job) checkLabels() error {
	if n := len(j.Labels); n > MaxLabels {
		return Errorf("labels", "there are %d; give %d at most", n, MaxLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(j.Labels)) {
		value := j.Labels[key]
		switch {
		case key == "":
			return Errorf("labels", "a label has no key; give it one")
		case len(key) > MaxLabelKey:
			return Errorf("labels", "the key %.20q… has %d bytes; choose one of %d at most", key, len(key), MaxLabelKey)
		case strings.ContainsFunc(key, notOfLabelKey):
			return Errorf("labels", "the key %q has other characters than letters, digits and _ . - /, all of ASCII; choose another", key)
		case len(value) > MaxLabelValue:
			return Errorf("labels", "the value of %s has %d bytes; give %d at most", key, len(value), MaxLabelValue)
		case !utf8.ValidString(value):
			return Errorf("labels", "the value of %s is not UTF-8; give it as UTF-8", key)
		case strings.ContainsFunc(value, notPrintable):
			return Errorf("labels", "the value of %s, %q, has characters that cannot be printed; leave them out", key, value)
		}
	}
	return nil
}

// notOfLabelKey says whether a character is none of LabelKeys.
func notOfLabelKey(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-/", r))
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// addPair adds KEY=VALUE to a map, or returns why it cannot. The map that was there
// is not changed: copies of the document have it too.
func addPair(field reflect.Value, text string) string {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Sprintf("%q has no value; write it as KEY=VALUE", text)
	}
	return setPair(field, key, value)
}

// setPair is addPair of a key and its value.
func setPair(field reflect.Value, key, value string) string {
	all, _ := field.Interface().(map[string]string)
	if _, ok := all[key]; ok {
		return fmt.Sprintf("the key %q is there twice; give every key once", key)
	}
	all = maps.Clone(all)
	if all == nil {
		all = make(map[string]string)
	}
	all[key] = value
	field.Set(reflect.ValueOf(all))
	return ""
}
