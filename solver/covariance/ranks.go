package covariance

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/rank"
)

// tile is the number of columns taken together: a cache line of a row.
const tile = 8

// transform replaces every column of the table by its centred ranks or its
// normal scores, on so many goroutines, and returns the spread of the original
// columns. When a worker panics, transform panics with a *dense.Panic.
func transform(ctx context.Context, table []block, d, samples int, method Method, threads int) (spread, error) {
	of := spread{means: make([]float64, d), sds: make([]float64, d)}
	score := scores(samples, method)
	next := make(chan int)
	var workers sync.WaitGroup
	var failed atomic.Pointer[dense.Panic]
	for range min(threads, (d+tile-1)/tile) {
		workers.Go(func() {
			caught := dense.Catch(func() {
				w := newRanker(samples, score)
				for first := range next {
					w.tile(table, d, first, of)
				}
			})
			if caught != nil {
				failed.CompareAndSwap(nil, caught)
				for range next { // so that sending the next tile cannot block
				}
			}
		})
	}
	for first := 0; first < d && ctx.Err() == nil && failed.Load() == nil; first += tile {
		next <- first
	}
	close(next)
	workers.Wait()
	if caught := failed.Load(); caught != nil {
		panic(caught)
	}
	return of, ctx.Err()
}

// scores gives the score of twice a rank, from 2 for the first to 2M for the
// last: ties make half ranks.
func scores(samples int, method Method) []float64 {
	m := float64(samples)
	score := make([]float64, 2*samples+1)
	delta := 1 / (4 * math.Pow(m, 0.25) * math.Sqrt(math.Pi*math.Log(m)))
	for twice := 2; twice <= 2*samples; twice++ {
		rank := float64(twice) / 2
		switch method {
		case Spearman:
			score[twice] = rank - (m+1)/2
		case NormalScores:
			score[twice] = quantile((rank - 0.375) / (m + 0.25))
		case Nonparanormal:
			score[twice] = quantile(math.Max(delta, math.Min(1-delta, rank/m)))
		}
	}
	return score
}

// quantile is Φ⁻¹.
func quantile(f float64) float64 { return math.Sqrt2 * math.Erfinv(2*f-1) }

// A ranker is one goroutine's memory.
type ranker struct {
	score   []float64
	columns [tile][]float64
	ranks   *rank.Ranker
	twice   []int
}

func newRanker(samples int, score []float64) *ranker {
	r := &ranker{score: score, ranks: rank.New(samples), twice: make([]int, samples)}
	for i := range r.columns {
		r.columns[i] = make([]float64, samples)
	}
	return r
}

// tile transforms the columns from first on.
func (r *ranker) tile(table []block, d, first int, of spread) {
	n := min(tile, d-first)
	k := 0
	for _, b := range table {
		for row := range b.rows {
			for c, v := range b.data[row*d+first : row*d+first+n] {
				r.columns[c][k] = v
			}
			k++
		}
	}
	for c := range n {
		of.means[first+c], of.sds[first+c] = moments1(r.columns[c])
		r.rank(r.columns[c])
	}
	k = 0
	for _, b := range table {
		for row := range b.rows {
			for c := range n {
				b.data[row*d+first+c] = r.columns[c][k]
			}
			k++
		}
	}
}

// rank replaces the values of a column by the scores of their ranks.
func (r *ranker) rank(column []float64) {
	r.ranks.Twice(r.twice, column)
	for k, twice := range r.twice {
		column[k] = r.score[twice]
	}
}

// moments1 is the mean and the standard deviation (divisor M) of a column, in
// two passes, free of overflow as moments is.
func moments1(column []float64) (mean, sd float64) {
	shift := column[0]
	var largest float64
	for _, v := range column {
		largest = max(largest, math.Abs(v-shift))
	}
	if largest == 0 {
		return shift, 0
	}
	_, e := math.Frexp(largest)
	e = max(e, smallestExponent)
	factor := math.Ldexp(1, -e)
	for _, v := range column {
		mean += (v - shift) * factor
	}
	mean /= float64(len(column))
	for _, v := range column {
		y := (v-shift)*factor - mean
		sd += y * y
	}
	return shift + math.Ldexp(mean, e), math.Ldexp(math.Sqrt(sd/float64(len(column))), e)
}
