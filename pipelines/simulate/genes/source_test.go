package genes

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestNewNetwork(t *testing.T) {
	n := NewNetwork([]string{"z"},
		[]string{"a", "b", "a", "a", "b", "c"},
		[]string{"b", "c", "b", "c", "c", "c"},
		[]int8{1, -1, -1, 7, -1, 1})
	want := &Network{
		Names: []string{"z", "a", "b", "c"},
		Edges: []Edge{{1, 2, 0}, {2, 3, -1}, {1, 3, 0}, {3, 3, 1}},
	}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("%+v, want %+v", n, want)
	}
}

func TestRandomNetwork(t *testing.T) {
	edges := 0
	for seed := range uint64(20) {
		n, err := RandomNetwork(source(seed), 200, 40, 1.8)
		if err != nil {
			t.Fatal(err)
		}
		edges += len(n.Edges)
		sources, targets := make(map[int]int), make(map[int]int)
		for _, e := range n.Edges {
			sources[e.Source]++
			targets[e.Target]++
		}
		if len(sources) > 40 || len(targets) != 200-40/3 {
			t.Errorf("%d sources, %d targets", len(sources), len(targets))
		}
		m, err := Drawing{Activators: .5}.Draw(source(seed), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.components() {
			if len(c) > 1 {
				t.Errorf("a cycle of %d genes", len(c))
			}
		}
	}
	if mean := float64(edges) / 20 / (200 - 40/3); math.Abs(mean-1.8) > .1 {
		t.Errorf("%v regulators of a gene", mean)
	}
	for _, c := range []struct {
		genes, regulators int
		links             float64
		want              string
	}{
		{3, 1, 1, "3 genes are too few"},
		{10, 10, 1, "from 1 to 9"},
		{10, 0, 1, "from 1 to 9"},
		{10, 2, .5, "from 1 to 2"},
		{10, 2, math.NaN(), "from 1 to 2"},
	} {
		if _, err := RandomNetwork(source(1), c.genes, c.regulators, c.links); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A sub-network is connected, has the genes asked for and every edge between them.
func TestSubnetwork(t *testing.T) {
	n, err := RandomNetwork(source(3), 300, 60, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	n.Edges = append(n.Edges, Edge{5, 5, 1})
	for _, how := range []string{Neighbours, Clusters} {
		seen := make(map[string]bool)
		for seed := range uint64(10) {
			s, err := n.Subnetwork(source(seed), 40, how)
			if err != nil {
				t.Fatal(err)
			}
			seen[strings.Join(s.Names, " ")] = true
			again, err := n.Subnetwork(source(seed), 40, how)
			if err != nil || !reflect.DeepEqual(s, again) {
				t.Errorf("%s: another network with the same seed (%v)", how, err)
			}
			neighbours := make([][]int, len(s.Names))
			for _, e := range s.Edges {
				neighbours[e.Source] = append(neighbours[e.Source], e.Target)
				neighbours[e.Target] = append(neighbours[e.Target], e.Source)
			}
			if len(s.Names) != 40 || len(parts(neighbours)) != 1 {
				t.Errorf("%s: %d genes in %d parts", how, len(s.Names), len(parts(neighbours)))
			}
			between := 0
			for _, e := range n.Edges {
				if slices.Contains(s.Names, n.Names[e.Source]) && slices.Contains(s.Names, n.Names[e.Target]) {
					between++
				}
			}
			if between != len(s.Edges) {
				t.Errorf("%s: %d edges of %d", how, len(s.Edges), between)
			}
		}
		if len(seen) < 9 {
			t.Errorf("%s: ten seeds draw %d sub-networks", how, len(seen))
		}
	}
	small := NewNetwork(nil, []string{"a", "b", "x"}, []string{"b", "c", "y"}, make([]int8, 3))
	if _, err := small.Subnetwork(source(1), 4, Clusters); err == nil || !strings.Contains(err.Error(), "the largest connected part of the network has 3") {
		t.Errorf("%v", err)
	}
	if _, err := small.Subnetwork(source(1), 2, "cliques"); err == nil {
		t.Error("an unknown way is taken")
	}
}

// A model has what its drawing says: signs, decoys, followers, scales, background.
func TestDrawing(t *testing.T) {
	n, err := RandomNetwork(source(4), 100, 20, 1.6)
	if err != nil {
		t.Fatal(err)
	}
	n.Edges[0].Sign, n.Edges[1].Sign = 1, -1
	back, err := RandomNetwork(source(5), 30, 6, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Drawing{Activators: .7, Following: .5, Decoys: 5, Scaled: true}.Draw(source(6), n, back)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sample(source(7), Conditions{Samples: 60, Biological: .1, Measurement: .1, Input: .1})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, s)
	sources, plus := make(map[int]bool), 0
	for _, e := range s.Edges {
		sources[e.Source] = true
		if e.Sign > 0 {
			plus++
		}
		for _, given := range n.Edges[:2] {
			if e.Source == given.Source && e.Target == given.Target && e.Sign != given.Sign {
				t.Errorf("the sign of %+v was %d", e, given.Sign)
			}
		}
	}
	if len(s.Edges) != len(n.Edges) || len(m.Listed) != len(sources)+5 || s.Background != 30 || s.Names[100] != "bgr_"+back.Names[0] {
		t.Errorf("%d edges of %d, %d listed of %d, %d background", len(s.Edges), len(n.Edges), len(m.Listed), len(sources), s.Background)
	}
	if share := float64(plus) / float64(len(s.Edges)); math.Abs(share-.7) > .15 {
		t.Errorf("%v of the edges activate", share)
	}
	inputs, followers := 0, 0
	for j, leader := range m.Leaders[:100] {
		if m.input(j) {
			inputs++
			if leader >= 0 {
				followers++
			}
		}
	}
	if followers != inputs/2 || inputs < 5 {
		t.Errorf("%d of %d inputs follow", followers, inputs)
	}
	for _, l := range m.Laws {
		for _, n := range l.Exponent {
			if n > 7 || l.Form == Hill && len(l.Signs) > 1 && n != 1 {
				t.Errorf("%+v", l)
			}
		}
	}
	steep, err := Drawing{Steep: true, Activators: .2}.Draw(source(6), n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for j, l := range steep.Laws {
		if !steep.input(j) && (l.Form != Hill || slices.Min(l.Exponent) < 2.6 || slices.Max(l.Half) > .6) {
			t.Errorf("steep: %+v", l)
		}
	}
	if steep.Highest != nil || len(steep.Listed) != len(sources) {
		t.Errorf("steep: %v listed, highest %v", steep.Listed, steep.Highest)
	}
	if _, err := (Drawing{Activators: 1.5}).Draw(source(1), n, nil); err == nil {
		t.Error("a share of 1.5 is taken")
	}
	clash := NewNetwork(nil, []string{"bgr_a"}, []string{"b"}, []int8{1})
	if _, err := (Drawing{}).Draw(source(1), clash, back); err == nil || !strings.Contains(err.Error(), "bgr_a") {
		t.Errorf("%v", err)
	}
}

// Distorted marginals keep the table finite and, but for outliers and noise, the
// order of a gene's samples or their direction.
func TestDistort(t *testing.T) {
	for _, how := range Marginals() {
		s, err := Draw(source(9), "linear", 20, 400)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(s.Values)
		if err := s.Distort(source(1), how); err != nil {
			t.Fatal(err)
		}
		whole(t, s)
		if same := slices.Equal(before, s.Values); same != (how == Plain) {
			t.Errorf("%s: unchanged %v", how, same)
		}
		if how == Exponential && slices.Min(s.Values) <= 0 {
			t.Errorf("an exponential of %v", slices.Min(s.Values))
		}
		x := s.columns()
		standardize(x)
		kurtosis := 0.0
		for _, column := range x {
			for _, v := range column {
				kurtosis += v * v * v * v / float64(len(s.Values))
			}
		}
		if heavy := kurtosis > 3.5; heavy != (how == Exponential || how == Outliers || how == HeavyTailed) {
			t.Errorf("%s: mean kurtosis %v", how, kurtosis)
		}
	}
	s, _ := Draw(source(9), "linear", 20, 40)
	if err := s.Distort(source(1), "bimodal"); err == nil {
		t.Error("an unknown distribution is taken")
	}
}
