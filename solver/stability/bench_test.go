package stability

import (
	"context"
	"testing"
)

// What halves select is streamed into counts: with B = 50 and 500,000 pairs of variables, of
// which a half selects 5,000, a run takes two numbers of two bytes for each pair, and of each
// worker what one pair of halves has selected.
func BenchmarkRun(b *testing.B) {
	const edges, selected = 500_000, 5_000
	half := func(_ context.Context, _ int, rows []int, pick func(int, int8)) error {
		for k := range selected {
			pick((rows[0]+k*97)%edges, 1)
		}
		return nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run(context.Background(), Settings{Samples: 100, Pairs: 50, Edges: edges, Workers: 2}, half); err != nil {
			b.Fatal(err)
		}
	}
}
