package glad

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The loops of this machine have the bits of those in Go, for any length and
// any place in memory, and touch nothing beside.
func TestLoopsOfLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for n := range 40 {
		for range 20 {
			const pad = 5
			draw := func() []float64 {
				at := r.IntN(4)
				x := make([]float64, at+n+pad)[at:]
				for i := range x {
					x[i] = r.NormFloat64()
				}
				return x
			}
			y, x0, x1, x2 := draw(), draw(), draw(), draw()
			w := [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			b := r.NormFloat64()
			for name, f := range map[string][2]func(y []float64){
				"sum3": {
					func(y []float64) { sum3(y, b, w, x0, x1, x2) },
					func(y []float64) { sum3Go(y, b, w, x0, x1, x2) },
				},
				"add2": {
					func(y []float64) { add2(y, w[0], w[1], x0, x1) },
					func(y []float64) { add2Go(y, w[0], w[1], x0, x1) },
				},
				"add1": {
					func(y []float64) { add1(y, w[0], x0) },
					func(y []float64) { add1Go(y, w[0], x0) },
				},
				"lessSquare": {
					func(y []float64) { lessSquare(y, w[0], w[1], x0) },
					func(y []float64) { lessSquareGo(y, w[0], w[1], x0) },
				},
			} {
				got, want := slices.Clone(y), slices.Clone(y)
				f[0](got[:n])
				f[1](want[:n])
				if !slices.Equal(got, want) {
					t.Fatalf("%s of %d values: %v, want %v", name, n, got, want)
				}
				if !slices.Equal(got[n:], y[n:]) {
					t.Fatalf("%s of %d values writes behind them", name, n)
				}
			}
			if got, want := dot3(y[:n], x0, x1, x2), dot3Go(y[:n], x0, x1, x2); got != want {
				t.Fatalf("dot3 of %d values: %v, want %v", n, got, want)
			}
		}
	}
}

func BenchmarkLayer(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 2))
	const n = 50
	x := rows(4, n)
	for _, row := range x {
		for i := range row {
			row[i] = r.NormFloat64()
		}
	}
	w := [3]float64{1, 2, 3}
	for name, f := range map[string]func(){
		"sum3":   func() { sum3(x[0], 1, w, x[1], x[2], x[3]) },
		"sum3Go": func() { sum3Go(x[0], 1, w, x[1], x[2], x[3]) },
		"dot3":   func() { dot3(x[0], x[1], x[2], x[3]) },
		"dot3Go": func() { dot3Go(x[0], x[1], x[2], x[3]) },
	} {
		b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}
