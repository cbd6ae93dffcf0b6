package rank_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/rank"
)

func TestTwice(t *testing.T) {
	for _, c := range []struct {
		column []float64
		want   []int
	}{
		{nil, nil},
		{[]float64{3}, []int{2}},
		{[]float64{3, 1, 2}, []int{6, 2, 4}},
		{[]float64{1, 1, 0, 1}, []int{6, 6, 2, 6}},
		{[]float64{2, 1, 2, 1}, []int{7, 3, 7, 3}},
	} {
		got := make([]int, len(c.column))
		rank.New(5).Twice(got, c.column)
		if !slices.Equal(got, c.want) {
			t.Errorf("twice the ranks of %v are %v, want %v", c.column, got, c.want)
		}
	}
}

// A rank is the number of smaller values, half that of equal ones, and a half.
func TestTwiceCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	column, got := make([]float64, 60), make([]int, 60)
	r := rank.New(60)
	for range 20 {
		for k := range column {
			column[k] = float64(rng.IntN(25))
		}
		r.Twice(got, column)
		for k, v := range column {
			want := 1
			for _, o := range column {
				switch {
				case o < v:
					want += 2
				case o == v:
					want++
				}
			}
			if got[k] != want {
				t.Fatalf("twice the rank of %v is %d, want %d", v, got[k], want)
			}
		}
	}
}

func TestTwiceAllocatesNothing(t *testing.T) {
	column, got := []float64{3, 1, 2, 2}, make([]int, 4)
	r := rank.New(4)
	if n := testing.AllocsPerRun(10, func() { r.Twice(got, column) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
