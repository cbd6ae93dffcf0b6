package metric

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// regulated is a population of drawn labels: every pair of a regulator and another
// variable.
func regulated(t *testing.T, rng *rand.Rand, undirected bool) *Population {
	t.Helper()
	names := strings.Split("abcdefghij", "")
	var r Reference
	for _, s := range names[:5] {
		for _, to := range names {
			if s != to {
				r.Source = append(r.Source, s)
				r.Target = append(r.Target, to)
				r.Label = append(r.Label, rng.Float64() < 0.3 || s == "b" && to == "c")
			}
		}
	}
	p, err := r.Population(names, Labelled, undirected)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A sample is the population with the pairs of every source as often as it was drawn.
func TestResamplingRanksWhatWasDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, undirected := range []bool{false, true} {
		p := regulated(t, rng, undirected)
		scores := make([]float64, len(p.Pairs))
		for k := range scores {
			scores[k] = float64(rng.IntN(12))
		}
		r := p.Resample(20, 7)
		rankings, err := r.Rank(t.Context(), scores)
		if err != nil || len(rankings) != 20 || r.Samples() != 20 {
			t.Fatal(len(rankings), err)
		}
		for b, got := range rankings {
			var drawn []float64
			var positive []bool
			sources := 0
			for _, n := range r.draws[b] {
				sources += int(n)
			}
			for k, s := range scores {
				for range r.draws[b][p.Source(k)] {
					drawn = append(drawn, s)
					positive = append(positive, p.Positive[k])
				}
			}
			want, err := Rank(drawn, positive)
			if err != nil {
				t.Fatal(err)
			}
			if !sameFigures(got, want) || sources != p.Sources() {
				t.Errorf("sample %d of %d sources: %+v, want %+v", b, sources, got, want)
			}
		}
	}
}

// The same seed gives the same samples, and another one others.
func TestResampleSeed(t *testing.T) {
	p := regulated(t, rand.New(rand.NewPCG(1, 1)), false)
	if a, b := p.Resample(5, 3), p.Resample(5, 3); !reflect.DeepEqual(a.draws, b.draws) {
		t.Error("the same seed, other samples")
	}
	if a, b := p.Resample(5, 3), p.Resample(5, 4); reflect.DeepEqual(a.draws, b.draws) {
		t.Error("another seed, the same samples")
	}
}

// The standard error of a share of positives, over sources whose shares are known, is
// that of a mean of draws: here of five sources with shares 0 to 4 in 9.
func TestResamplingError(t *testing.T) {
	names := strings.Split("abcdefghij", "")
	var r Reference
	for i, s := range names[:5] {
		for k, to := range names[5:] {
			r.Source = append(r.Source, s)
			r.Target = append(r.Target, to)
			r.Label = append(r.Label, k < i)
		}
	}
	p, err := r.Population(names, Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	rankings, err := p.Resample(4000, 1).Rank(t.Context(), make([]float64, len(p.Pairs)))
	if err != nil {
		t.Fatal(err)
	}
	var shares []float64
	for _, r := range rankings {
		shares = append(shares, r.EarlyPrecision) // all tie: it is the share of positives
	}
	// The shares are 0, .2, .4, .6, .8: variance .08 of one draw, /5 of their mean.
	// 4000 samples have it to about 1 %; four times that is allowed.
	if got, want := StandardDeviation(shares), math.Sqrt(.08/5); math.Abs(got/want-1) > 0.05 {
		t.Errorf("standard error %v, want %v", got, want)
	}
}

func TestSource(t *testing.T) {
	names := strings.Split("abcd", "")
	r := Reference{
		Source: []string{"c", "a", "b", "c", "d"},
		Target: []string{"b", "c", "a", "a", "a"},
		Label:  []bool{true, false, true, true, false},
	}
	for kind, want := range map[Kind]map[string]string{
		// a–c is listed from a as none and from c as an edge.
		Labelled: {"bc": "c", "ab": "b", "ac": "c", "ad": "d"},
		// d is the source of no edge, and b and c are.
		All: {"bc": "c", "ab": "b", "ac": "c", "ad": "d", "bd": "b", "cd": "c"},
	} {
		p, err := r.Population(names, kind, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Pairs) != len(want) {
			t.Errorf("%v: %d pairs", kind, len(p.Pairs))
		}
		for k, q := range p.Pairs {
			pair := names[q.I] + names[q.J]
			if got := names[p.Source(k)]; got != want[pair] {
				t.Errorf("%v, %s: source %s, want %s", kind, pair, got, want[pair])
			}
		}
	}
}

// One regulator leaves nothing to draw.
func TestResampleOneSource(t *testing.T) {
	r := Reference{Source: []string{"a", "a", "b"}, Target: []string{"b", "c", "c"}, Label: []bool{true, false, false}}
	p, err := r.Population([]string{"a", "b", "c"}, Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	rankings, err := p.Resample(10, 1).Rank(t.Context(), []float64{1, 2, 3})
	if err != nil || len(rankings) != 0 {
		t.Errorf("%v, %v", rankings, err)
	}
	if se := StandardDeviation(nil); !math.IsNaN(se) {
		t.Errorf("standard error %v", se)
	}
}

func TestResamplingRefuses(t *testing.T) {
	p := regulated(t, rand.New(rand.NewPCG(1, 1)), false)
	r := p.Resample(3, 1)
	if _, err := r.Rank(t.Context(), []float64{1}); err == nil || !strings.Contains(err.Error(), "one score a pair") {
		t.Error(err)
	}
	scores := make([]float64, len(p.Pairs))
	scores[4] = math.NaN()
	if _, err := r.Rank(t.Context(), scores); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Rank(ended, make([]float64, len(p.Pairs))); err == nil {
		t.Error("a context that has ended is no error")
	}
}
