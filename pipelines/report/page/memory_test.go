package page_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gladflow/gladflow/pipelines/report/page"
)

// A page without what it has no place for is the same page, and takes about as much
// memory as it says.
func TestTrimmedPage(t *testing.T) {
	const d, edges, pages = 60, 700, 8
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprint("v", i)
	}
	var networks []page.Network
	for k := range 40 { // of which each has room for 500 edges
		s := page.NewStrongest(d, 0, page.Sure{Name: "edge_probability", Of: func(l page.Link) float64 { return l.Score }})
		for range edges {
			if i, j := rng.IntN(d), rng.IntN(d); i != j {
				s.Add(page.Link{I: i, J: j, Score: rng.Float64(), Sign: 1})
			}
		}
		n := s.Network(names, nil)
		n.Name = fmt.Sprint("solver", k)
		networks = append(networks, n)
	}
	whole := page.Page{Title: "x", Sections: []page.Section{{Title: "Network", Networks: networks}}}

	var before, after runtime.MemStats
	kept := make([]page.Page, pages)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for k := range kept {
		kept[k] = whole.Trim()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took := float64(after.HeapAlloc-before.HeapAlloc) / pages
	if said := float64(kept[0].Memory()); took > 1.2*said || took < said/2 {
		t.Errorf("a page that says that it takes %.0f bytes takes %.0f", said, took)
	}
	if less, more := kept[0].Memory(), whole.Memory(); less >= more {
		t.Errorf("the page takes %d bytes instead of %d", less, more)
	}
	if encoded(t, kept[0]) != encoded(t, whole) {
		t.Error("the page is another")
	}
}
