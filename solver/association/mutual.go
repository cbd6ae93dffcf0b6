package association

import (
	"context"
	"math"
	"math/bits"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/rank"
)

// Bins is the number of bins that MutualInformation cuts the values of a variable
// into: n^⅓, rounded, from 3 to 10.
func Bins(samples int) int {
	return min(10, max(3, int(math.Round(math.Cbrt(float64(samples))))))
}

// MutualInformation is the mutual information of every pair of variables, in nats,
// estimated from the frequencies of their values in Bins(n) bins of equal frequency
// (plug-in estimate). rows are n samples of d finite numbers each, one sample after
// the other. Values that are equal are in the same bin.
func (s Scorer) MutualInformation(ctx context.Context, rows []float64, d int) (*dense.Sym, error) {
	b, err := s.cut(ctx, rows, d)
	if err != nil {
		return nil, err
	}
	information := dense.NewSym(d, nil)
	err = eachRow(ctx, d, s.threads(), func(i int) {
		for j := i + 1; j < d; j++ {
			information.Set(i, j, b.information(i, j))
		}
	})
	return information, err
}

// MutualInformationMemory is what MutualInformation takes at a time for so many
// samples of d variables, in bytes: the scores among it, and not the samples.
func MutualInformationMemory(samples, d int) int64 {
	n, variables := int64(samples), int64(d)
	return 8*variables*variables + variables*int64(Bins(samples))*(n/8+24) + 8*n + 8*5*n*int64(dense.Cores())
}

// binned are variables in bins: of each variable and bin the set of its samples.
type binned struct {
	samples, bins, words int
	sets                 []uint64  // words of bin b of variable v from (v·bins + b)·words on
	sizes                []int     // of bin b of variable v at v·bins + b
	entropy              []float64 // Σ c·log c over a variable's bins
	clog                 []float64 // c·log c
}

// cut makes bins of samples.
func (s Scorer) cut(ctx context.Context, rows []float64, d int) (*binned, error) {
	n := len(rows) / max(1, d)
	b := &binned{samples: n, bins: Bins(n), words: (n + 63) / 64}
	b.sets = make([]uint64, d*b.bins*b.words)
	b.sizes = make([]int, d*b.bins)
	b.entropy = make([]float64, d)
	b.clog = make([]float64, n+1)
	for c := 2; c <= n; c++ {
		b.clog[c] = float64(c) * math.Log(float64(c))
	}
	type worker struct {
		ranks  *rank.Ranker
		column []float64
		twice  []int
	}
	workers := make([]worker, max(1, s.threads()))
	for w := range workers {
		workers[w] = worker{rank.New(n), make([]float64, n), make([]int, n)}
	}
	err := dense.Each(ctx, d, len(workers), func(w, v int) error {
		at := workers[w]
		for k := range n {
			at.column[k] = rows[k*d+v]
		}
		at.ranks.Twice(at.twice, at.column)
		for k, twice := range at.twice {
			bin := v*b.bins + min(b.bins-1, (twice-1)*b.bins/(2*n))
			b.sizes[bin]++
			b.sets[bin*b.words+k/64] |= 1 << (k % 64)
		}
		for _, c := range b.sizes[v*b.bins : (v+1)*b.bins] {
			b.entropy[v] += b.clog[c]
		}
		return nil
	})
	return b, err
}

// information is Σ c/n·log(c·n/(ci·cj)) over the bins of two variables. The last bin
// of each is what the others leave.
func (b *binned) information(i, j int) float64 {
	var left [10]int // of bins of j: what the bins of i before the last have not taken
	last := b.bins - 1
	copy(left[:], b.sizes[j*b.bins:(j+1)*b.bins])
	sizes := b.sizes[i*b.bins : (i+1)*b.bins]
	var sum float64
	for p := range last {
		set := b.set(i, p)
		rest := sizes[p]
		for q := range last {
			c := common(set, b.set(j, q))
			rest -= c
			left[q] -= c
			sum += b.clog[c]
		}
		left[last] -= rest
		sum += b.clog[rest]
	}
	for _, c := range left[:b.bins] {
		sum += b.clog[c]
	}
	n := float64(b.samples)
	return max(0, (sum-b.entropy[i]-b.entropy[j])/n+math.Log(n))
}

func (b *binned) set(v, bin int) []uint64 {
	at := (v*b.bins + bin) * b.words
	return b.sets[at : at+b.words]
}

// common is the size of the intersection of two sets of as many words.
func common(x, y []uint64) int {
	n := 0
	y = y[:len(x)]
	for k, w := range x {
		n += bits.OnesCount64(w & y[k])
	}
	return n
}
