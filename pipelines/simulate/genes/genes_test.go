package genes

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// whole reports what no set may be: a value that is not finite, a constant gene, an
// edge from elsewhere, a source that is not listed.
func whole(t *testing.T, s *Set) {
	t.Helper()
	d := len(s.Names)
	if len(s.Values) != d*s.Rows {
		t.Fatalf("%s: %d values of %d×%d", s.Family, len(s.Values), s.Rows, d)
	}
	for j, column := range s.columns() {
		if slices.Max(column) == slices.Min(column) {
			t.Errorf("%s: gene %d is constant", s.Family, j)
		}
		for _, v := range column {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s: gene %d has %v", s.Family, j, v)
			}
		}
	}
	if !slices.IsSorted(s.Regulators) {
		t.Errorf("%s: regulators %v", s.Family, s.Regulators)
	}
	foreground := d - s.Background
	for k, e := range s.Edges {
		switch {
		case e.Source == e.Target || min(e.Source, e.Target) < 0 || max(e.Source, e.Target) >= foreground:
			t.Errorf("%s: edge %+v of %d genes", s.Family, e, foreground)
		case k > 0 && (e.Source < s.Edges[k-1].Source || e.Source == s.Edges[k-1].Source && e.Target <= s.Edges[k-1].Target):
			t.Errorf("%s: edge %+v after %+v", s.Family, e, s.Edges[k-1])
		case !slices.Contains(s.Regulators, e.Source):
			t.Errorf("%s: the source of %+v is not listed", s.Family, e)
		}
	}
}

func TestDraw(t *testing.T) {
	for _, name := range Families() {
		for seed := range uint64(20) {
			d, n := 4+int(seed)*3, 2+int(seed)*7
			s, err := Draw(source(seed), name, d, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Names) != d || s.Rows != n || s.Family != name || (s.Background > 0) != (name == "background") {
				t.Errorf("%s: %d genes, %d background, %d rows, family %s", name, len(s.Names), s.Background, s.Rows, s.Family)
			}
			whole(t, s)
			again, err := Draw(source(seed), name, d, n)
			if err != nil || !reflect.DeepEqual(s, again) {
				t.Errorf("%s: another set with the same seed (%v)", name, err)
			}
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	for _, c := range []struct {
		family         string
		genes, samples int
		want           string
	}{
		{"grid", 10, 10, "choose from syntren, "},
		{"gnw", 3, 10, "3 genes are too few; give at least 4"},
		{"gnw", 10, 1, "1 samples are too few; give at least 2"},
	} {
		_, err := Draw(source(1), c.family, c.genes, c.samples)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Regulated pairs correlate more than others, in every family.
func TestFamiliesCarryTheirNetwork(t *testing.T) {
	for _, name := range Families() {
		var on, off []float64
		for seed := range uint64(12) {
			s, err := Draw(source(100+seed), name, 60, 200)
			if err != nil {
				t.Fatal(err)
			}
			joined := make(map[[2]int]bool)
			for _, e := range s.Edges {
				joined[[2]int{e.Source, e.Target}], joined[[2]int{e.Target, e.Source}] = true, true
			}
			columns := s.columns()
			standardize(columns)
			for i := range columns {
				for j := range i {
					r := math.Abs(dot(columns[i], columns[j])) / float64(s.Rows)
					if joined[[2]int{i, j}] {
						on = append(on, r)
					} else {
						off = append(off, r)
					}
				}
			}
		}
		slices.Sort(on)
		slices.Sort(off)
		t.Logf("%-10s median |r| on edges %.3f of %d, elsewhere %.3f", name, on[len(on)/2], len(on), off[len(off)/2])
		if on[len(on)/2] < off[len(off)/2]+.1 {
			t.Errorf("%s: median |r| %.3f on edges, %.3f elsewhere", name, on[len(on)/2], off[len(off)/2])
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// Where a family says signs, a single activator correlates positively with its
// target and a single repressor negatively.
func TestSigns(t *testing.T) {
	for _, name := range []string{"syntren", "gnw", "linear", "knockout", "switch"} {
		agree, all := 0, 0
		for seed := range uint64(10) {
			s, err := Draw(source(200+seed), name, 50, 300)
			if err != nil {
				t.Fatal(err)
			}
			regulators := make(map[int]int)
			for _, e := range s.Edges {
				regulators[e.Target]++
			}
			columns := s.columns()
			standardize(columns)
			for _, e := range s.Edges {
				if e.Sign == 0 {
					continue
				}
				if r := dot(columns[e.Source], columns[e.Target]) / float64(s.Rows); regulators[e.Target] == 1 {
					all++
					if r*float64(e.Sign) > 0 {
						agree++
					}
				}
			}
		}
		if all < 50 || float64(agree) < .9*float64(all) {
			t.Errorf("%s: the sign of %d of %d correlations is that of the edge", name, agree, all)
		}
	}
}

// Rate laws go from 0 to 1, rise with activators and fall with repressors.
func TestLaws(t *testing.T) {
	rng := source(1)
	seen := make(map[string]int)
	for range 2000 {
		n := 1 + rng.IntN(4)
		l := drawLaw(rng, n, .5, kinetics{complexes: .7, steep: rng.IntN(4) == 0})
		seen[l.Form]++
		on, off, x := make([]float64, n), make([]float64, n), make([]float64, n)
		for k, s := range l.Signs {
			x[k] = rng.Float64()
			if s > 0 {
				on[k] = 1
			} else {
				off[k] = 1
			}
		}
		if lo, hi := l.rate(off), l.rate(on); math.Abs(lo) > 1e-12 || math.Abs(hi-1) > 1e-12 {
			if l.Form != Synergy {
				t.Fatalf("%+v: from %v to %v", l, lo, hi)
			}
		}
		v := l.rate(x)
		if v < -1e-12 || v > 1+1e-12 {
			t.Errorf("%+v at %v is %v", l, x, v)
		}
		k := rng.IntN(n)
		x[k] = min(1, x[k]+.1)
		if up := l.rate(x); (up-v)*float64(l.Signs[k]) < -1e-12 {
			t.Errorf("%+v: raising regulator %d changes %v to %v", l, k, v, up)
		}
	}
	for _, form := range []string{Hill, Synergy, Competitive} {
		if seen[form] < 50 {
			t.Errorf("form %s was drawn %d times", form, seen[form])
		}
	}
}

// One activator is (1+Kⁿ)xⁿ/(Kⁿ+xⁿ), and one repressor 1 minus that.
func TestOneRegulator(t *testing.T) {
	const k, n, x = .6, 3., .3
	want := (1 + math.Pow(k, n)) * math.Pow(x, n) / (math.Pow(k, n) + math.Pow(x, n))
	l := Law{Form: Hill, Signs: []int8{1}, Half: []float64{k}, Exponent: []float64{n}, Strength: []float64{.5}}.rescaled()
	if got := l.rate([]float64{x}); math.Abs(got-want) > 1e-14 {
		t.Errorf("activator: %v, want %v", got, want)
	}
	l = Law{Form: Hill, Signs: []int8{-1}, Half: []float64{k}, Exponent: []float64{n}, Strength: []float64{0}, Basal: 2}.rescaled()
	if got := l.rate([]float64{x}); math.Abs(got-(1-want)) > 1e-14 {
		t.Errorf("repressor: %v, want %v", got, 1-want)
	}
}

func TestDrawMixture(t *testing.T) {
	rng := source(7)
	count := make(map[string]int)
	for range 60 {
		s, err := DrawMixture(rng)
		if err != nil {
			t.Fatal(err)
		}
		whole(t, s)
		count[s.Family]++
		d := len(s.Names) - s.Background
		if d < 18 || d >= 300 || s.Rows < 20 || s.Rows >= 1000 || len(s.Edges) < 3 || s.Background > 0 && (d > 150 || s.Background < 10 || s.Background > 100) {
			t.Errorf("%s: %d genes and %d of background, %d rows, %d edges", s.Family, d, s.Background, s.Rows, len(s.Edges))
		}
	}
	if len(count) < 7 {
		t.Errorf("families %v", count)
	}
	total := 0.0
	for _, f := range families() {
		total += f.share
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("the shares add up to %v", total)
	}
}

func TestDrawRegulated(t *testing.T) {
	idle := 0
	for seed := range uint64(10) {
		s, err := DrawRegulated(source(seed))
		if err != nil {
			t.Fatal(err)
		}
		whole(t, s)
		targets := make(map[int]bool)
		for _, e := range s.Edges {
			targets[e.Source] = true
		}
		idle += len(s.Regulators) - len(targets)
		if len(s.Names) != 120 || len(s.Regulators) != 30 || s.Rows < 40 || s.Rows >= 500 || len(s.Edges) < 70 {
			t.Errorf("%d genes, %d regulators, %d rows, %d edges", len(s.Names), len(s.Regulators), s.Rows, len(s.Edges))
		}
	}
	if idle < 10 {
		t.Errorf("%d regulators of ten sets have no target", idle)
	}
}

// Lists have all sources and decoys, and are of every family; regulators are not most genes.
func TestDrawListed(t *testing.T) {
	rng := source(9)
	count := make(map[string]int)
	decoys, regulated := 0, 0
	for range 60 {
		s, err := DrawListed(rng)
		if err != nil {
			t.Fatal(err)
		}
		whole(t, s)
		count[s.Family]++
		genes := len(s.Names) - s.Background
		targets := make(map[int]bool)
		for _, e := range s.Edges {
			targets[e.Source] = true
		}
		decoys += len(s.Regulators) - len(targets)
		if p := len(s.Regulators); p < 3 || p > genes/2 || !slices.IsSorted(s.Regulators) || s.Regulators[p-1] >= genes {
			t.Errorf("%s: %d regulators of %d genes: %v", s.Family, p, genes, s.Regulators)
		}
		if len(s.Names) == 120 && len(s.Regulators) == 30 {
			regulated++
		}
	}
	if len(count) < 5 || decoys < 100 || regulated < 15 || regulated > 45 {
		t.Errorf("families %v, %d decoys, %d as DrawRegulated", count, decoys, regulated)
	}
}

func TestFromRegulators(t *testing.T) {
	s := &Set{Names: []string{"a", "b", "c"}, Regulators: []int{0, 2}, Edges: []Edge{{Source: 0, Target: 1}, {Source: 2, Target: 0}, {Source: 2, Target: 1}}}
	if got := s.FromRegulators(); !slices.Equal(got, []bool{false, true, false, true, true, false}) {
		t.Errorf("%v", got)
	}
}

// The same seed gives the same sets, whatever was drawn from another source.
func TestMixtureIsDeterministic(t *testing.T) {
	a, b := source(11), source(11)
	for range 3 {
		first, err := DrawMixture(a)
		if err != nil {
			t.Fatal(err)
		}
		second, err := DrawMixture(b)
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("two sets of %s with the same seed differ (%v)", first.Family, err)
		}
	}
}

func BenchmarkDrawMixture(b *testing.B) {
	rng := source(3)
	for b.Loop() {
		if _, err := DrawMixture(rng); err != nil {
			b.Fatal(err)
		}
	}
}
