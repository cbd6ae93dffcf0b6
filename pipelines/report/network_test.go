package report

import (
	"bytes"
	"strings"
	"testing"
)

// A network says every name once, and its legend what the lines are.
func TestNetwork(t *testing.T) {
	f := Figure{Title: "A network", Panels: []Panel{Network{
		Title: "of four", Nodes: []string{"geneA", "geneB", "geneC", "geneD"},
		Links: []Links{{Name: "found", Pairs: [][2]int{{0, 1}, {2, 3}}}, {Name: "missed", Pairs: [][2]int{{0, 2}}, Dashed: true}},
	}}}
	var b bytes.Buffer
	if err := f.Encode(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	got := texts(t, b.Bytes())
	for _, want := range []string{"A network", "of four", "geneA", "geneB", "geneC", "geneD", "found", "missed"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is there %d times in %q", want, strings.Count(got, want), got)
		}
	}
	if !strings.Contains(b.String(), "stroke-dasharray") {
		t.Error("nothing is dashed")
	}
}
