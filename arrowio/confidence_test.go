package arrowio

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// What a list says of how sure its edges are comes back from every format, the columns
// after those of the edges in their order, whichever are known.
func TestConfidenceComesBack(t *testing.T) {
	edges := []Edge{{"a", "b", 0.5, -1, 0.5}, {"b", "c", 0.25, 0.5, -0.25}}
	known := []Confidence{
		{},
		{QValue: []float64{0.25, 1}},
		{
			EdgeProbability: []float64{0.9, 0.8}, SelectionProbability: []float64{1, 0.75}, SignConsistency: []float64{1, 0.5},
			PValue: []float64{1e-300, 0.5}, QValue: []float64{0, 0.5}, Lower: []float64{0.25, -1}, Upper: []float64{0.75, 0.5},
		},
	}
	ranked := Ranked{Names: []string{"a", "b", "c"}, Pairs: []RankedPair{{0, 1, 0.5, 1}, {1, 2, 0.25, -1}}}
	for _, format := range EdgeFormats() {
		for n, want := range known {
			for _, kind := range []string{"edges", "ranked"} {
				columns := EdgeColumns(edges)
				if kind == "ranked" {
					columns = ranked.Columns()
				}
				columns = append(columns, want.Columns()...)
				path := filepath.Join(t.TempDir(), "list."+format.Name)
				if err := EdgeFormats().write(path, format.Name, columns, nil); err != nil {
					t.Fatal(err)
				}
				got, err := ReadEdges(t.Context(), path, ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if format.Name == SIFText { // it has signs, and the order
					if !slices.Equal(got.Sign, []int8{1, -1}) || got.Score != nil || !slices.Equal(got.Source, []string{"a", "b"}) {
						t.Errorf("%s: %+v", format.Name, got)
					}
					continue
				}
				if !reflect.DeepEqual(got.Confidence, want) || !slices.Equal(got.Sign, []int8{1, -1}) || !slices.Equal(got.Score, []float64{0.5, 0.25}) {
					t.Errorf("%s, %s %d: %+v", kind, format.Name, n, got)
				}
				if isEdges := kind == "edges"; isEdges != slices.Equal(got.PartialCorrelation, []float64{0.5, -0.25}) || isEdges != slices.Equal(got.Precision, []float64{-1, 0.5}) {
					t.Errorf("%s, %s %d: %+v", kind, format.Name, n, got)
				}
			}
		}
	}
	var names []string
	for _, c := range known[2].Columns() {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, ConfidenceColumns()) {
		t.Errorf("columns %v", names)
	}
}

// Lists of others may have columns of these names for something else.
func TestConfidenceOfOthers(t *testing.T) {
	l, err := ReadEdges(t.Context(), put(t, "list.csv", "source,target,score,p_value\na,b,1,low\n"), ListOptions{})
	if err != nil || l.Confidence.PValue != nil || l.Len() != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	_, err = ReadEdges(t.Context(), put(t, "list.csv", "source,target,score,sign,p_value\na,b,1,1,low\n"), ListOptions{})
	wantInputError(t, err, "p_value", `the value is "low"`)
}
