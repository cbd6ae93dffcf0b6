package ranking

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// pathOffset keeps the ratio of two scores next to nothing close to 1.
const pathOffset = 0.02

// path is, for every pair of the symmetric scores s, which are not negative,
//
//	ln((sij + 0.02)/(bij + 0.02)), bij = max over k of min(sik, skj)
//
// how a pair compares with the best path of two steps between its variables. Below 0
// the pair is the weakest side of a triangle: by the data processing inequality it
// need not be an edge, which is how ARACNE prunes (Margolin et al., BMC Bioinformatics
// 7, 2006). The diagonal is 0.
func path(ctx context.Context, s *dense.Sym, threads int) (*dense.Sym, error) {
	d := s.Len()
	// The neighbours of each variable, best first: the search for k ends at the first
	// that is no better than the best found, which takes few steps.
	order := make([][]int32, d)
	err := dense.Each(ctx, d, threads, func(_, i int) error {
		row := s.Row(i)
		o := make([]int32, 0, d-1)
		for k := range d {
			if k != i {
				o = append(o, int32(k))
			}
		}
		slices.SortFunc(o, func(a, b int32) int { return cmp.Compare(row[b], row[a]) })
		order[i] = o
		return nil
	})
	if err != nil {
		return nil, err
	}
	to := dense.NewSym(d, nil)
	err = dense.Each(ctx, d, threads, func(_, i int) error {
		from := s.Row(i)
		for j := i + 1; j < d; j++ {
			other := s.Row(j)
			var best float64
			for _, k := range order[i] {
				v := from[k]
				if v <= best {
					break
				}
				if int(k) != j {
					best = max(best, min(v, other[k]))
				}
			}
			to.Set(i, j, math.Log((from[j]+pathOffset)/(best+pathOffset)))
		}
		return nil
	})
	return to, err
}
