// Package rank ranks the values of a variable. Ties share the average of their ranks.
//
//	r := rank.New(len(column))
//	r.Twice(twice, column) // twice[k]/2 is the rank of column[k], from 1
package rank

import (
	"cmp"
	"slices"
)

// A Ranker ranks columns with memory of its own, so that ranking allocates nothing.
// It serves one goroutine at a time.
type Ranker struct{ order []entry }

type entry struct {
	value  float64
	sample int
}

// New returns a Ranker for columns of at most n values.
func New(n int) *Ranker { return &Ranker{order: make([]entry, n)} }

// Twice writes twice the rank of every value of a column, from 2 for the smallest:
// the average of tied ranks is a whole or a half number. No value is NaN.
func (r *Ranker) Twice(twice []int, column []float64) {
	order := r.order[:len(column)]
	for k, v := range column {
		order[k] = entry{v, k}
	}
	slices.SortFunc(order, func(a, b entry) int { return cmp.Compare(a.value, b.value) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].value == order[from].value {
			to++
		}
		for _, o := range order[from:to] {
			twice[o.sample] = from + 1 + to // ranks from+1 to to
		}
		from = to
	}
}
