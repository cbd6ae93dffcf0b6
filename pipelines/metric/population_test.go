package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// small has one pair in both directions, one line twice, a self-loop and a
// name, Z, that the tables below lack.
func small() Reference {
	return Reference{
		Source: []string{"A", "B", "A", "A", "B", "A", "C", "Z"},
		Target: []string{"B", "A", "C", "C", "C", "A", "D", "A"},
		Label:  []bool{true, false, false, false, true, true, false, true},
	}
}

func TestPopulation(t *testing.T) {
	names := []string{"D", "C", "B", "A"}
	const D, C, B, A = 0, 1, 2, 3
	const skipped = "; lines of the reference skipped, since the table lacks their variables: 1 (1 positive); self-loops skipped: 1"
	tests := []struct {
		kind       Kind
		undirected bool
		pairs      []Pair
		positive   []Pair
		text       string
	}{
		{Labelled, false, []Pair{{A, B}, {B, A}, {A, C}, {B, C}, {C, D}}, []Pair{{A, B}, {B, C}}, "labelled, directed: 5 pairs, 2 positive"},
		{Labelled, true, []Pair{{B, A}, {C, A}, {C, B}, {D, C}}, []Pair{{B, A}, {C, B}}, "labelled, undirected: 4 pairs, 2 positive"},
		{All, false, []Pair{{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}, []Pair{{A, B}, {B, C}}, "all, directed: 12 pairs, 2 positive"},
		{All, true, []Pair{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, []Pair{{B, A}, {C, B}}, "all, undirected: 6 pairs, 2 positive"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p, err := small().Population(names, tt.kind, tt.undirected)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Pairs, tt.pairs) {
				t.Errorf("pairs %v, want %v", p.Pairs, tt.pairs)
			}
			for k, q := range p.Pairs {
				if p.Positive[k] != slices.Contains(tt.positive, q) {
					t.Errorf("pair %v is positive: %v", q, p.Positive[k])
				}
			}
			if got := p.String(); got != tt.text+skipped {
				t.Errorf("%q, want %q", got, tt.text+skipped)
			}
		})
	}
}

func TestPopulationRefuses(t *testing.T) {
	pair := func(label ...bool) Reference {
		return Reference{Source: []string{"A", "B"}, Target: []string{"B", "C"}, Label: label}
	}
	tests := []struct {
		name    string
		ref     Reference
		names   []string
		kind    Kind
		is      error
		message string
	}{
		{"no known name", pair(true, false), []string{"x", "y", "z"}, Labelled, ErrNoKnownPair, "same identifiers"},
		{"no known name, all", pair(true, false), []string{"x", "y", "z"}, All, ErrNoKnownPair, "same identifiers"},
		{"no known pair", pair(true, false), []string{"A", "C"}, Labelled, ErrNoKnownPair, "same identifiers"},
		{"no positive", pair(false, false), []string{"A", "B", "C"}, All, ErrNoPositive, "with edges"},
		{"edges only", pair(), []string{"A", "B", "C"}, Labelled, ErrNoNegative, `population "all"`},
		{"repeated variable", pair(true, false), []string{"A", "B", "A"}, Labelled, nil, `two variables are called "A"`},
		{"unknown kind", pair(true, false), []string{"A", "B"}, Kind(7), nil, "choose labelled or all"},
		{"lengths", Reference{Source: []string{"A"}}, []string{"A"}, Labelled, nil, "1 sources, 0 targets"},
		{"both labels", Reference{[]string{"A", "A"}, []string{"B", "B"}, []bool{true, false}}, []string{"A", "B"}, Labelled, nil, `"A" → "B"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.ref.Population(tt.names, tt.kind, false)
			if err == nil || !strings.Contains(err.Error(), tt.message) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v, want one with %q", err, tt.message)
			}
		})
	}
	if _, err := pair().Population([]string{"A", "B", "C"}, All, false); err != nil {
		t.Errorf("edges only, all pairs: %v", err)
	}
}

func TestNames(t *testing.T) {
	if got, want := small().Names(), []string{"A", "B", "C", "D", "Z"}; !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
}

func TestParseKind(t *testing.T) {
	for _, k := range []Kind{Labelled, All} {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("ParseKind(%q) = %v, %v", k.String(), got, err)
		}
	}
	if k, err := ParseKind(""); k != Labelled || err != nil {
		t.Errorf("the default is %v, %v", k, err)
	}
	if _, err := ParseKind("some"); err == nil {
		t.Error(`ParseKind("some") is accepted`)
	}
}

func TestScoreNamesTheNaN(t *testing.T) {
	p, err := small().Population([]string{"A", "B", "C", "D"}, Labelled, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Score(func(i, j int) float64 {
		if i == 1 && j == 2 {
			return math.NaN()
		}
		return 1
	})
	if err == nil || !strings.Contains(err.Error(), `"B" and "C"`) {
		t.Errorf("error %v, want one that names B and C", err)
	}
}

func TestScoreList(t *testing.T) {
	// Scored pairs of the reference: A→B +, B→A −, A→C −, B→C +, C→D −.
	names := []string{"A", "B", "C", "D"}
	list := List{
		Source: []string{"C", "B", "B", "Q", "A", "C"},
		Target: []string{"B", "A", "A", "A", "D", "D"},
		Score:  []float64{0.5, 0.9, 0.2, 1, 2, 0.5},
	}
	tests := []struct {
		name               string
		undirectedList, up bool
		ordered            bool
		// The scores that the population's pairs must get, 0 for unlisted.
		equivalent                []float64
		listed, outside, repeated int
	}{
		// A→B, B→A, A→C, B→C, C→D
		{"directed", false, false, false, []float64{0, 0.9, 0, 0, 0.5}, 2, 3, 1},
		{"undirected list", true, false, false, []float64{0.9, 0.9, 0, 0.5, 0.5}, 4, 2, 1},
		{"order is rank", false, false, true, []float64{0, 5, 0, 0, 1}, 2, 3, 1},
		// AB, AC, BC, CD
		{"undirected population", false, true, false, []float64{0.9, 0, 0.5, 0.5}, 3, 2, 1},
		{"both undirected", true, true, false, []float64{0.9, 0, 0.5, 0.5}, 3, 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := small().Population(names, Labelled, tt.up)
			if err != nil {
				t.Fatal(err)
			}
			l := list
			l.Undirected = tt.undirectedList
			if tt.ordered {
				l.Score = nil
			}
			got, err := p.ScoreList(l)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Rank(tt.equivalent, p.Positive)
			if err != nil {
				t.Fatal(err)
			}
			if !sameFigures(got.Ranking, want) || got.Listed != tt.listed || got.Outside != tt.outside || got.Repeated != tt.repeated {
				t.Errorf("got %+v, want %+v, listed %d, outside %d, repeated %d", got, want, tt.listed, tt.outside, tt.repeated)
			}
		})
	}
}

func TestScoreListRefuses(t *testing.T) {
	p, err := small().Population([]string{"A", "B", "C", "D"}, Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		list    List
		message string
	}{
		{"lengths", List{Source: []string{"A"}}, "1 sources, 0 targets"},
		{"NaN", List{Source: []string{"A"}, Target: []string{"B"}, Score: []float64{math.NaN()}}, "line 1"},
		{"infinite", List{Source: []string{"A"}, Target: []string{"B"}, Score: []float64{math.Inf(1)}}, "line 1"},
		{"empty", List{}, ErrNoneListed.Error()},
		{"other names", List{Source: []string{"x"}, Target: []string{"y"}}, ErrNoneListed.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.ScoreList(tt.list)
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want one with %q", err, tt.message)
			}
		})
	}
}

// A complete undirected list scores as the function it was written from.
func TestListAgreesWithScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(3, 8).Draw(t, "d")
		names := make([]string, d)
		for i := range names {
			names[i] = fmt.Sprint("g", i)
		}
		var ref Reference
		var list List
		score := make(map[Pair]float64)
		for i := range d {
			for j := range d {
				if i == j {
					continue
				}
				ref.Source, ref.Target = append(ref.Source, names[i]), append(ref.Target, names[j])
				ref.Label = append(ref.Label, i == 0 && j == 1 || !(i == 1 && j == 0) && rapid.Bool().Draw(t, "edge") && i+j > 2)
				if i < j {
					v := float64(rapid.IntRange(0, 5).Draw(t, "score"))
					score[Pair{int32(i), int32(j)}] = v
					// Either direction may stand for the pair.
					a, b := i, j
					if rapid.Bool().Draw(t, "turn") {
						a, b = j, i
					}
					list.Source, list.Target = append(list.Source, names[a]), append(list.Target, names[b])
					list.Score = append(list.Score, v)
				}
			}
		}
		list.Undirected = true
		kind := Kind(rapid.IntRange(0, 1).Draw(t, "kind"))
		p, err := ref.Population(names, kind, rapid.Bool().Draw(t, "undirected"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Score(func(i, j int) float64 { return score[Pair{int32(i), int32(j)}.unordered()] })
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.ScoreList(list)
		if err != nil {
			t.Fatal(err)
		}
		if !sameFigures(got.Ranking, want) || got.Listed != len(p.Pairs) {
			t.Errorf("list %+v, function %+v", got, want)
		}
	})
}

func ExampleReference_Population() {
	ref := Reference{
		Source: []string{"lacI", "lacI", "crp"},
		Target: []string{"lacZ", "araB", "lacZ"},
		Label:  []bool{true, false, true},
	}
	pop, err := ref.Population([]string{"araB", "crp", "lacI", "lacZ"}, Labelled, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := pop.ScoreList(List{Source: []string{"crp"}, Target: []string{"lacZ"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pop)
	fmt.Printf("AUROC %.2f with %d pair listed\n", r.AUROC, r.Listed)
	// Output:
	// labelled, directed: 3 pairs, 2 positive
	// AUROC 0.75 with 1 pair listed
}
