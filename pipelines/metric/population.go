package metric

import (
	"errors"
	"fmt"
	"strings"
)

// A Kind says which pairs of variables are scored.
type Kind int

const (
	// Labelled, the zero value: the pairs that the reference lists, each with
	// its label.
	Labelled Kind = iota
	// All: every pair of the table's variables; a pair that the reference does
	// not list is negative.
	All
)

// String returns "labelled" or "all".
func (k Kind) String() string {
	switch k {
	case Labelled:
		return "labelled"
	case All:
		return "all"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// ParseKind is the inverse of String; "" is Labelled.
func ParseKind(s string) (Kind, error) {
	switch s {
	case "labelled", "":
		return Labelled, nil
	case "all":
		return All, nil
	}
	return 0, fmt.Errorf("unknown population %q; choose labelled or all", s)
}

// Errors that Reference.Population wraps; test for them with errors.Is.
var (
	// ErrNoKnownPair: the reference and the table share no pair of names.
	ErrNoKnownPair = errors.New("the reference names no pair of the table's variables; check that both use the same identifiers")
	// ErrNoPositive: no pair of the population is positive.
	ErrNoPositive = errors.New("no pair of the population is positive; give a reference with edges between the table's variables")
	// ErrNoNegative: no pair of the population is negative.
	ErrNoNegative = errors.New("no pair of the population is negative; a reference that lists edges only needs the population \"all\"")
)

// A Reference is a known network: labelled pairs of names. The three slices
// have one length; a nil Label means that every pair is positive. A pair may be
// repeated with the same label.
type Reference struct {
	Source, Target []string
	Label          []bool
}

// Names are the variables that r names, each once, in order of appearance. They
// stand for the table's variables where there is no table.
func (r Reference) Names() []string {
	seen := make(map[string]struct{})
	var names []string
	for i, s := range r.Source {
		for _, name := range [2]string{s, r.Target[i]} {
			if _, ok := seen[name]; !ok {
				seen[name] = struct{}{}
				names = append(names, name)
			}
		}
	}
	return names
}

func (r Reference) check() error {
	if len(r.Target) != len(r.Source) || r.Label != nil && len(r.Label) != len(r.Source) {
		return fmt.Errorf("the reference has %d sources, %d targets and %d labels; give one of each a pair", len(r.Source), len(r.Target), len(r.Label))
	}
	return nil
}

func (r Reference) label(k int) bool { return r.Label == nil || r.Label[k] }

// A Pair is two variables by their position in the table: I to J where the
// population is directed, I < J otherwise.
type Pair struct{ I, J int32 }

// A Population is the pairs on which estimates are scored, with their truth.
// Print it with every figure: AUROC moves by 0.03 with the choice.
type Population struct {
	Kind       Kind
	Undirected bool
	// Pairs are distinct and hold no variable with itself. Positive is their
	// truth, of the same length.
	Pairs    []Pair
	Positive []bool
	// Positives is the number of true entries of Positive.
	Positives int
	// Skipped counts lines of the reference that name a variable which the
	// table lacks, SkippedPositives those of them that are positive.
	Skipped, SkippedPositives int
	// SelfLoops counts lines of the reference that pair a variable with itself,
	// which no estimate scores.
	SelfLoops int

	names []string
	index map[string]int32
	// sources are those of the pairs of an undirected population: see Source.
	sources []int32
}

// Population returns the pairs of names on which estimates are scored. Where it is
// undirected, a pair is positive if either direction is.
//
// It is an error if the reference shares no pair with names (ErrNoKnownPair), if
// no pair is positive (ErrNoPositive) or none negative (ErrNoNegative), if
// names repeat, and if the reference gives an ordered pair both labels.
func (r Reference) Population(names []string, kind Kind, undirected bool) (*Population, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if kind != Labelled && kind != All {
		return nil, fmt.Errorf("unknown population %v; choose labelled or all", kind)
	}
	p := &Population{Kind: kind, Undirected: undirected, names: names, index: make(map[string]int32, len(names))}
	for i, name := range names {
		if _, ok := p.index[name]; ok {
			return nil, fmt.Errorf("two variables are called %q; names must differ", name)
		}
		p.index[name] = int32(i)
	}
	pairs, err := p.known(r)
	if err != nil {
		return nil, err
	}
	if kind == Labelled {
		p.fillLabelled(pairs)
	} else {
		p.fillAll(pairs)
	}
	for _, b := range p.Positive {
		if b {
			p.Positives++
		}
	}
	if undirected {
		p.attribute(pairs)
	}
	switch {
	case len(pairs) == 0:
		err = ErrNoKnownPair
	case p.Positives == 0:
		err = ErrNoPositive
	case p.Positives == len(p.Pairs):
		err = ErrNoNegative
	}
	if err != nil {
		return nil, fmt.Errorf("population %s, %s: %w", kind, direction(undirected), err)
	}
	return p, nil
}

// labelledPair is one ordered pair of the reference.
type labelledPair struct {
	Pair
	positive bool
}

// known returns the distinct ordered pairs of r between variables of the table,
// in the order of r, and counts the others.
func (p *Population) known(r Reference) ([]labelledPair, error) {
	seen := make(map[Pair]bool, len(r.Source))
	pairs := make([]labelledPair, 0, len(r.Source))
	for k, s := range r.Source {
		label := r.label(k)
		i, iok := p.index[s]
		j, jok := p.index[r.Target[k]]
		switch {
		case s == r.Target[k]:
			p.SelfLoops++
			continue
		case !iok || !jok:
			p.Skipped++
			if label {
				p.SkippedPositives++
			}
			continue
		}
		if before, ok := seen[Pair{i, j}]; ok {
			if before != label {
				return nil, fmt.Errorf("the reference lists %q → %q as an edge and as none; remove one of the two lines", s, r.Target[k])
			}
			continue
		}
		seen[Pair{i, j}] = label
		pairs = append(pairs, labelledPair{Pair{i, j}, label})
	}
	return pairs, nil
}

func (p *Population) fillLabelled(pairs []labelledPair) {
	p.Pairs = make([]Pair, 0, len(pairs))
	p.Positive = make([]bool, 0, len(pairs))
	if !p.Undirected {
		for _, q := range pairs {
			p.Pairs = append(p.Pairs, q.Pair)
			p.Positive = append(p.Positive, q.positive)
		}
		return
	}
	at := make(map[Pair]int, len(pairs))
	for _, q := range pairs {
		pair := q.unordered()
		k, ok := at[pair]
		if !ok {
			k = len(p.Pairs)
			at[pair] = k
			p.Pairs = append(p.Pairs, pair)
			p.Positive = append(p.Positive, false)
		}
		p.Positive[k] = p.Positive[k] || q.positive
	}
}

func (p *Population) fillAll(pairs []labelledPair) {
	d := len(p.names)
	n := d * (d - 1)
	if p.Undirected {
		n /= 2
	}
	p.Pairs = make([]Pair, 0, n)
	p.Positive = make([]bool, n)
	for i := range int32(d) {
		start := int32(0)
		if p.Undirected {
			start = i + 1
		}
		for j := start; j < int32(d); j++ {
			if i != j {
				p.Pairs = append(p.Pairs, Pair{i, j})
			}
		}
	}
	for _, q := range pairs {
		if q.positive {
			p.Positive[p.position(q.Pair, d)] = true
		}
	}
}

// position is where fillAll puts a pair.
func (p *Population) position(q Pair, d int) int {
	if p.Undirected {
		q = q.unordered()
		i, j := int(q.I), int(q.J)
		return i*(2*d-i-1)/2 + j - i - 1
	}
	i, j := int(q.I), int(q.J)
	if j > i {
		j--
	}
	return i*(d-1) + j
}

func (q Pair) unordered() Pair {
	if q.I > q.J {
		return Pair{q.J, q.I}
	}
	return q
}

// Chance is the share of the pairs that are positive: the precision of a ranking by chance.
func (p *Population) Chance() float64 { return float64(p.Positives) / float64(len(p.Pairs)) }

// String names the population for people, for example
// "labelled, directed: 152280 pairs, 2066 positive", with what was left out of the
// reference, if anything.
func (p *Population) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: %d pairs, %d positive", p.Kind, direction(p.Undirected), len(p.Pairs), p.Positives)
	if p.Skipped > 0 {
		fmt.Fprintf(&b, "; lines of the reference skipped, since the table lacks their variables: %d (%d positive)", p.Skipped, p.SkippedPositives)
	}
	if p.SelfLoops > 0 {
		fmt.Fprintf(&b, "; self-loops skipped: %d", p.SelfLoops)
	}
	return b.String()
}

func direction(undirected bool) string {
	if undirected {
		return "undirected"
	}
	return "directed"
}
