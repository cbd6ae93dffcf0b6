package page

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/pipelines/metric"
)

// What is left of a line is never further from it than an eye can see, unless there
// are too many points, and has its ends.
func TestThinnedKeepsTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 400).Draw(t, "n")
		step := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, "step")
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
			y[i] = step[i]
			if i > 0 {
				y[i] += y[i-1]
			}
		}
		tx, ty := thinned(x, y, false, false, 400)
		if tx[0] != x[0] || tx[len(tx)-1] != x[n-1] || len(tx) > n {
			t.Fatalf("%d points of %d, from %v to %v", len(tx), n, tx[0], tx[len(tx)-1])
		}
		height := slices.Max(y) - slices.Min(y)
		k := 0
		for i := range x {
			for tx[k+1] < x[i] {
				k++
			}
			at := ty[k] + (ty[k+1]-ty[k])*(x[i]-tx[k])/(tx[k+1]-tx[k])
			// Distances are along the normal, here they are vertical, of a line
			// that may be steep.
			slope := math.Abs((ty[k+1]-ty[k])/(tx[k+1]-tx[k])) * float64(n-1) / max(height, 1e-300)
			if off := math.Abs(at - y[i]); off > 2e-4*height*math.Sqrt(1+slope*slope)*(1+1e-6)+1e-12 {
				t.Fatalf("at %v the line is %v and was %v, of a height of %v", x[i], at, y[i], height)
			}
		}
	})
}

func TestThinnedIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 3, 500, 50_000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i), rng.Float64()
		}
		if tx, ty := thinned(x, y, false, false, maxPoints); len(tx) != len(ty) || len(tx) > maxPoints || len(tx) < min(n, 2) {
			t.Errorf("%d points of %d", len(tx), n)
		}
	}
	x, y := []float64{1, 0, 2, 3, 4, 1e308, 5}, []float64{1, 1, math.NaN(), math.Inf(1), 0, -1e308, 2}
	if tx, _ := thinned(x, y, true, true, maxPoints); !slices.Equal(tx, numbers{1, 5}) {
		t.Errorf("the axes show %v", tx)
	}
}

// The strongest links are those that sorting finds.
func TestStrongest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const d = 210 // more pairs than MaxEdges
	s := NewStrongest(d, 0)
	names := make([]string, d)
	var all []Link
	for i := range d {
		names[i] = strconv.Itoa(i)
		for j := range i {
			all = append(all, Link{I: j, J: i, Score: float64(rng.IntN(200)) / 200, Sign: -1})
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, l := range all {
		s.Add(l)
	}
	n := s.Network(names, nil)
	slices.SortFunc(all, compareLinks)
	if n.Total != d*(d-1)/2 || len(n.Edges) != MaxEdges {
		t.Fatalf("%d of %d edges", len(n.Edges), n.Total)
	}
	for k, e := range n.Edges {
		if want := all[k]; n.Nodes[e.From].Name != names[want.I] || n.Nodes[e.To].Name != names[want.J] || e.Score != want.Score || e.Sign != -1 {
			t.Fatalf("edge %d is %+v, want %+v", k, e, want)
		}
	}
	for _, node := range n.Nodes {
		if node.Degree != d-1 {
			t.Errorf("%s has %d edges", node.Name, node.Degree)
		}
	}
}

// A heat map has the variables of the strongest edges, and blocks side by side.
func TestRowOfHeatMap(t *testing.T) {
	const d = 2 * maxHeat
	s, names := NewStrongest(d, 0), make([]string, d)
	for i := range d {
		names[i] = strconv.Itoa(i)
	}
	for i := range maxHeat { // pairs i, i+2, i+4 of strong edges, and a chain of weak ones
		if j := i + 2; j < maxHeat && i%6 < 4 {
			s.Add(Link{I: i, J: j, Score: -.1})
		}
		s.Add(Link{I: i + maxHeat - 1, J: i + maxHeat, Score: -.9})
	}
	n := s.Network(names, nil)
	row := n.row()
	if len(row) != maxHeat {
		t.Fatalf("%d of %d variables are shown", len(row), len(n.Nodes))
	}
	block := make(map[string]int)
	for k, i := range row {
		v, err := strconv.Atoi(n.Nodes[i].Name)
		if err != nil || v >= maxHeat {
			t.Fatalf("the variable %s of weak edges is shown", n.Nodes[i].Name)
		}
		at := strconv.Itoa(v/6) + "/" + strconv.Itoa(v%2)
		if first, seen := block[at]; !seen {
			block[at] = k
		} else if k-first > 2 {
			t.Errorf("the block %s is torn apart", at)
		}
	}
	if none := (Network{}).row(); len(none) != 0 {
		t.Errorf("a network without edges has the rows %v", none)
	}
}

func TestTableView(t *testing.T) {
	none := Words("-")
	table := Table{
		Columns: []Column{{Title: "name"}, {Title: "high", Best: Higher}, {Title: "low", Best: Lower}, {Title: "none"}},
		Rows: [][]Cell{
			{Words("a"), {"1", 1}, {"3", 3}, {"1", 1}},
			{Words("b"), {"4", 4}, {"2", 2}, none},
			{Words("c"), {"2", 2}, none, {"2", 2}},
		},
	}
	v := table.view()
	for i, want := range [][]bool{{false, false, false, false}, {false, true, true, false}, {false, false, false, false}} {
		for k, cell := range v.Rows[i] {
			if cell.First != want[k] {
				t.Errorf("cell %d of row %d: best %t", k, i, cell.First)
			}
		}
	}
	across := Table{Across: true, Columns: table.Columns, Rows: table.Rows}
	across.Columns = []Column{{}, {Best: Higher}, {Best: Higher}, {}}
	for i, want := range []int{2, 1, 1} {
		for k, cell := range across.view().Rows[i] {
			if cell.First != (k == want) || cell.Bar {
				t.Errorf("across row %d, cell %d: best %t, bar %t", i, k, cell.First, cell.Bar)
			}
		}
	}
	if got := v.Rows[0][1].Share; got != 0.25 {
		t.Errorf("the bar of 1 beside 4 is %v", got)
	}
	if v.Rows[2][2].Bar || v.Rows[0][3].Bar {
		t.Error("bars are drawn where there is nothing to compare")
	}
}

func TestKnownAndDegrees(t *testing.T) {
	ref := metric.Reference{Source: []string{"a", "b", "a", "c"}, Target: []string{"b", "a", "c", "a"}, Label: []bool{true, false, false, false}}
	p, err := ref.Population([]string{"a", "b", "c", "d"}, metric.Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	known := KnownBy(p, false)
	for pair, want := range map[[2]int]Known{{0, 1}: Right, {1, 0}: Right, {0, 2}: Wrong, {2, 0}: Wrong, {1, 2}: Unknown, {0, 3}: Unknown} {
		if got := known(pair[0], pair[1]); got != want {
			t.Errorf("pair %v: %v, want %v", pair, got, want)
		}
	}
	known = KnownBy(p, true)
	for pair, want := range map[[2]int]Known{{0, 1}: Right, {1, 0}: Wrong, {0, 2}: Wrong, {1, 2}: Unknown} {
		if got := known(pair[0], pair[1]); got != want {
			t.Errorf("from %d to %d: %v, want %v", pair[0], pair[1], got, want)
		}
	}
	if p, err = ref.Population([]string{"a", "b", "c", "d"}, metric.All, true); err != nil {
		t.Fatal(err)
	}
	known = KnownBy(p, true) // which tells no directions apart
	for pair, want := range map[[2]int]Known{{0, 1}: Right, {1, 0}: Right, {0, 2}: Wrong, {1, 2}: Wrong, {0, 3}: Wrong} {
		if got := known(pair[0], pair[1]); got != want {
			t.Errorf("of all pairs, %v: %v, want %v", pair, got, want)
		}
	}
	c := DegreeChart([]Degree{ReferenceDegrees(p, 4), {Name: "other", Degrees: []int{3, 1, 1, 0, 2}}})
	if s := c.Series[0]; !slices.Equal(s.X, []float64{1}) || !slices.Equal(s.Y, []float64{2}) {
		t.Errorf("degrees of the reference: %v", s)
	}
	if s := c.Series[1]; !slices.Equal(s.X, []float64{1, 2, 3}) || !slices.Equal(s.Y, []float64{4, 2, 1}) {
		t.Errorf("degrees 3, 1, 1, 0, 2: %v", s)
	}
}
