package plugintest

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// An edge is a row of the table of edges.
type edge struct {
	source, target            string
	score, precision, partial float64
	sign                      int8
}

func emptyRecord(s *arrow.Schema) arrow.Record { return array.NewRecord(s, empties(s), 0) }

func empties(s *arrow.Schema) []arrow.Array {
	var columns []arrow.Array
	for _, f := range s.Fields() {
		columns = append(columns, array.NewBuilder(memory.DefaultAllocator, f.Type).NewArray())
	}
	return columns
}

// columnsAre fails unless a schema has exactly these columns, name:type.
func columnsAre(t testing.TB, what string, s *arrow.Schema, want ...string) {
	t.Helper()
	var got []string
	for _, f := range s.Fields() {
		got = append(got, f.Name+":"+f.Type.String())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("%s must have the columns %q, and has %q", what, want, got)
	}
}

// edgesOf reads a table of edges, checking what holds for every one.
func edgesOf(t testing.TB, records []arrow.Record) []edge {
	t.Helper()
	columns := []string{"source:utf8", "target:utf8", "score:float64", "precision:float64", "partial_correlation:float64", "sign:int8"}
	known := len(columns)
	for _, name := range []string{"edge_probability", "selection_probability", "sign_consistency", "p_value", "q_value", "lower", "upper"} {
		if records[0].Schema().HasField(name) { // only where the job or the solver has it
			columns = append(columns, name+":float64")
		}
	}
	columnsAre(t, "the table of edges", records[0].Schema(), columns...)
	var edges []edge
	for _, r := range records {
		for k, column := range r.Columns()[known:] {
			name, least := r.ColumnName(known+k), 0.
			if name == "lower" || name == "upper" {
				least = -1
			}
			for i, v := range column.(*array.Float64).Float64Values() {
				if !(v >= least && v <= 1) {
					t.Fatalf("edge %d has the %s %v; it must be from %v to 1", i+1, name, v, least)
				}
			}
		}
		source, target := r.Column(0).(*array.String), r.Column(1).(*array.String)
		score, precision, partial := r.Column(2).(*array.Float64), r.Column(3).(*array.Float64), r.Column(4).(*array.Float64)
		sign := r.Column(5).(*array.Int8)
		for i := range int(r.NumRows()) {
			edges = append(edges, edge{
				strings.Clone(source.Value(i)), strings.Clone(target.Value(i)),
				score.Value(i), precision.Value(i), partial.Value(i), sign.Value(i),
			})
		}
	}
	seen := make(map[[2]string]bool)
	for i, e := range edges {
		if err := e.wrong(); err != "" {
			t.Fatalf("edge %d, %+v: %s", i+1, e, err)
		}
		if seen[pair(e.source, e.target)] {
			t.Fatalf("edge %d, %+v: the pair must not be listed twice", i+1, e)
		}
		seen[pair(e.source, e.target)] = true
		if i > 0 && less(e, edges[i-1]) {
			t.Fatalf("edges must be in the order of falling score, and of names where scores are equal; edge %d is %+v, the one after it %+v", i, edges[i-1], e)
		}
	}
	return edges
}

// wrong says what is wrong with an edge.
func (e edge) wrong() string {
	want := int8(0)
	switch {
	case e.partial > 0:
		want = 1
	case e.partial < 0:
		want = -1
	}
	switch {
	case e.source == e.target:
		return "the ends must be two variables"
	case !(e.score >= 0 && e.score <= 1):
		return "the score must be between 0 and 1"
	case !(math.Abs(e.partial) <= 1):
		return "the partial correlation must be between -1 and 1"
	case math.IsNaN(e.precision) || math.IsInf(e.precision, 0):
		return "the precision must be finite"
	case e.sign != want:
		return "the sign must be that of the partial correlation"
	case e.precision*e.partial > 0:
		return "the partial correlation must have the opposite sign of the precision"
	}
	return ""
}

// less says whether a must come before b.
func less(a, b edge) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.source != b.source {
		return a.source < b.source
	}
	return a.target < b.target
}

// rightEdges fails unless the edges of a chain come first.
func rightEdges(t testing.TB, of table, edges []edge) {
	t.Helper()
	want := of.neighbours()
	if len(edges) < len(want) {
		t.Errorf("the network is a chain of %d variables, and only %d edges were found: %+v", len(of.names), len(edges), edges)
		return
	}
	for i, e := range edges[:len(want)] {
		sign, ok := want[pair(e.source, e.target)]
		if !ok || sign != e.sign {
			t.Errorf("the network is a chain of %d variables with alternating signs, so its edges must be the first %d found; number %d is %+v", len(of.names), len(want), i+1, e)
			return
		}
	}
}

// sameEdges fails unless two lists of edges are the same to the last bit.
func sameEdges(t testing.TB, what string, got, want []edge) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s must give the same edges to the last bit; there are %d instead of %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s must give the same edges to the last bit; edge %d is\n\t%+v instead of\n\t%+v", what, i+1, got[i], want[i])
			return
		}
	}
}
