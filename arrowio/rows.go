package arrowio

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A rowChoice chooses among the samples: see SampleOptions.Rows.
type rowChoice struct {
	take, leave wanted
}

func (o SampleOptions) rowChoice() rowChoice {
	return rowChoice{newWanted(o.Rows), newWanted(o.ExcludeRows)}
}

// any says that some samples may be left out.
func (c *rowChoice) any() bool { return len(c.take.texts)+len(c.leave.texts) > 0 }

// byLabel is an entry that is about labels; "" if there is none.
func (c *rowChoice) byLabel() string {
	for _, w := range []*wanted{&c.take, &c.leave} {
		for i, text := range w.texts {
			if !w.isRange[i] {
				return text
			}
		}
	}
	return ""
}

// keeps reports whether a sample is read: its number, from 0, and its label.
func (c *rowChoice) keeps(row int, label string) bool {
	taken := len(c.take.texts) == 0 || c.take.has(row, label)
	return taken && !c.leave.has(row, label) // also of one that is not taken, so that every match counts
}

// unmatched is the error of entries that no sample has matched.
func (c *rowChoice) unmatched(path string, read int) error {
	for _, w := range []*wanted{&c.take, &c.leave} {
		var none []string
		for i, text := range w.texts {
			if !w.found[i] {
				none = append(none, text)
			}
		}
		if len(none) > 0 {
			return fault(path, "no sample of %d is %s; check the labels and the numbers of the samples", read, listOf(none))
		}
	}
	return nil
}

// wanted are labels, patterns of them and positions.
type wanted struct {
	texts   []string
	found   []bool
	isRange []bool
	ranges  []span
	labels  map[string]int // exact ones, by their entry
	matches []labelMatch
}

// A span is the samples from first to last, counted from 0.
type span struct{ first, last, entry int }

type labelMatch struct {
	match func(string) bool
	entry int
}

// aRange are positions from 1: #3, #10-20, #100-.
var aRange = regexp.MustCompile(`^#([0-9]{1,18})(?:(-)([0-9]{1,18})?)?$`)

func newWanted(texts []string) wanted {
	w := wanted{texts: texts, found: make([]bool, len(texts)), isRange: make([]bool, len(texts)), labels: make(map[string]int)}
	for i, text := range texts {
		if m := aRange.FindStringSubmatch(text); m != nil {
			first, _ := strconv.Atoi(m[1])
			last := first
			if m[2] != "" {
				last = math.MaxInt
			}
			if m[3] != "" {
				last, _ = strconv.Atoi(m[3])
			}
			w.isRange[i] = true
			w.ranges = append(w.ranges, span{first - 1, last - 1, i})
			continue
		}
		if strings.ContainsAny(text, "*?") {
			w.matches = append(w.matches, labelMatch{Matcher(text), i})
		}
		w.labels[text] = i
	}
	return w
}

// has reports whether an entry matches, and notes all that do.
func (w *wanted) has(row int, label string) bool {
	found := false
	note := func(entry int) { w.found[entry], found = true, true }
	for _, s := range w.ranges {
		if row >= s.first && row <= s.last {
			note(s.entry)
		}
	}
	for _, m := range w.matches {
		if m.match(label) {
			note(m.entry)
		}
	}
	if entry, ok := w.labels[label]; ok {
		note(entry)
	}
	return found
}

// checkRows refuses a choice by labels where there are none.
func (m *matrix) checkRows() error {
	if text := m.choiceOfRows.byLabel(); text != "" && m.id < 0 && !m.labelled {
		return fault(m.src.name, "samples are chosen by their label (%q), and no column labels them", text).
			advise(labels("", "name it with %s, or choose samples by their number, such as #3 or #10-20", "choose samples by their number, such as #3 or #10-20"))
	}
	return nil
}

// chooseColumns is the choice among columns that are samples.
func (m *matrix) chooseColumns(names []string) (chosen []int, err error) {
	for i, n := range names {
		if !m.choiceOfRows.any() || m.choiceOfRows.keeps(i, n) {
			chosen = append(chosen, i)
		}
	}
	if err := m.choiceOfRows.unmatched(m.src.name, len(names)); err != nil {
		return nil, err
	}
	if m.leftOut = len(names) - len(chosen); m.leftOut > 0 {
		if m.origin = chosen; len(chosen) < 2 {
			return nil, noneLeft(m.src.name, len(chosen), len(names))
		}
	}
	return chosen, nil
}

// noneLeft is the error of a choice that leaves no sample, or one.
func noneLeft(path string, left, read int) error {
	if left == 1 {
		return fault(path, "1 sample is left of %d, and two are the least that can vary; leave fewer out", read)
	}
	return fault(path, "no sample is left of %d; leave fewer out", read)
}
