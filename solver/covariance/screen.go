package covariance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// An Entry is one of S, I < J.
type Entry struct {
	I, J  int32
	Value float64
}

// A Screening is what the entries of S above a threshold make of the variables.
type Screening struct {
	// Components are the connected components of the graph with an edge where |Sij| is above
	// the threshold, the largest first, each ascending. Single variables are among them.
	Components [][]int
	// Above counts the pairs i < j with |Sij| above the threshold.
	Above int64
	// Repeats are the groups of two variables and more that Columns.Screen was asked for.
	Repeats [][]int
}

// slack makes a screening a bit more inclusive than its threshold, by rounding: components
// that are joined for nothing are parted when their S is seen.
const slack = 1e-12

// Screen finds the connected components of |Sij| > rho, with products of blocks of columns on
// all threads of the engine. At no time there is more of S than a few blocks. Pairs of
// variables whose correlation is same or more, among those above rho, repeat each other; 0
// looks for none. progress, if set, is told of the share that is done. The result does not
// depend on the number of threads.
func (c *Columns) Screen(ctx context.Context, rho, same float64, progress func(done float64)) (*Screening, error) {
	if !(rho >= 0) {
		return nil, fmt.Errorf("the threshold is %v; it must be a number that is zero or positive", rho)
	}
	out := new(Screening)
	all, repeated := NewForest(c.d), NewForest(c.d)
	roots := make([]float64, c.d)
	for i, v := range c.diagonal {
		roots[i] = math.Sqrt(v)
	}
	same *= c.weight
	err := c.scan(ctx, progress, func() float64 { return rho - slack*rho }, func(entries []Entry) {
		for _, e := range entries {
			i, j, v := int(e.I), int(e.J), math.Abs(e.Value)
			if v > rho {
				out.Above++
			}
			all.Join(i, j)
			if same > 0 && v >= same*roots[i]*roots[j] {
				repeated.Join(i, j)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out.Components = all.Components()
	for _, g := range repeated.Groups() {
		if len(g) > 1 {
			out.Repeats = append(out.Repeats, g)
		}
	}
	return out, nil
}

// Largest are the entries of largest |Sij|, the largest first, at least n where there are as
// many that are not zero, and a floor: all entries above it are there. progress is as Screen's.
func (c *Columns) Largest(ctx context.Context, n int, progress func(done float64)) (entries []Entry, floor float64, err error) {
	cut := func() {
		slices.SortFunc(entries, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
		})
		if len(entries) > n {
			floor = math.Abs(entries[n].Value)
			at := n
			for at > 0 && math.Abs(entries[at-1].Value) == floor {
				at-- // of those that tie only some are there
			}
			entries = entries[:at]
		}
	}
	err = c.scan(ctx, progress, func() float64 { return floor }, func(found []Entry) {
		for _, e := range found {
			if math.Abs(e.Value) > floor {
				entries = append(entries, e)
			}
		}
		if len(entries) > 2*n+blockVariables*blockVariables {
			cut()
		}
	})
	if err != nil {
		return nil, 0, err
	}
	cut()
	return entries, floor, nil
}

// scanned is the number of blocks that are computed before what they hold is taken.
const scanned = 16

// scan calls take with the entries of S above the diagonal whose magnitude is above least,
// block by block in one order, from one goroutine. least is asked now and then.
func (c *Columns) scan(ctx context.Context, progress func(done float64), least func() float64, take func([]Entry)) error {
	pairs := upperBlocks((c.d + blockVariables - 1) / blockVariables)
	one := dense.WithThreads(c.engine, 1)
	workers := dense.Threads(c.engine)
	products := make([][]float64, workers)
	for w := range products {
		products[w] = make([]float64, blockVariables*blockVariables)
	}
	var found [scanned][]Entry
	for from := 0; from < len(pairs); from += scanned {
		group := pairs[from:min(from+scanned, len(pairs))]
		above := least()
		err := dense.Each(ctx, len(group), workers, func(w, k int) error {
			lo, hi := group[k][0]*blockVariables, group[k][1]*blockVariables
			return dense.Await(ctx, func() { found[k] = c.scanBlock(one, lo, hi, products[w], above, found[k][:0]) })
		})
		if err != nil {
			return err
		}
		for _, f := range found[:len(group)] {
			take(f)
		}
		if progress != nil {
			progress(float64(from+len(group)) / float64(len(pairs)))
		}
	}
	return nil
}

// scanBlock appends the entries of the block at (lo, hi) that are above.
func (c *Columns) scanBlock(one dense.Engine, lo, hi int, product []float64, above float64, to []Entry) []Entry {
	rows, columns := min(blockVariables, c.d-lo), min(blockVariables, c.d-hi)
	one.Gemm(false, true, rows, columns, c.m, 1, c.x[lo*c.m:], c.m, c.x[hi*c.m:], c.m, 0, product, blockVariables)
	for i := range rows {
		row := product[i*blockVariables : i*blockVariables+columns]
		for j, v := range row {
			if v = c.entry(v); (v > above || v < -above) && hi+j > lo+i {
				to = append(to, Entry{int32(lo + i), int32(hi + j), v})
			}
		}
	}
	return to
}

// A Forest joins variables into groups.
type Forest struct {
	parent []int32
	size   []int32
	most   int
}

// NewForest is one of d variables, each a group of its own.
func NewForest(d int) *Forest {
	f := &Forest{parent: make([]int32, d), size: make([]int32, d), most: min(d, 1)}
	for i := range f.parent {
		f.parent[i], f.size[i] = int32(i), 1
	}
	return f
}

func (f *Forest) root(i int32) int32 {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

// Join makes one group of those of i and j.
func (f *Forest) Join(i, j int) {
	a, b := f.root(int32(i)), f.root(int32(j))
	if a == b {
		return
	}
	if f.size[a] < f.size[b] {
		a, b = b, a
	}
	f.parent[b] = a
	f.size[a] += f.size[b]
	f.most = max(f.most, int(f.size[a]))
}

// Most is the size of the largest group.
func (f *Forest) Most() int { return f.most }

// Groups are the groups in the order of their first variables, each ascending.
func (f *Forest) Groups() [][]int {
	at := make([]int, len(f.parent))
	var groups [][]int
	for i := range f.parent {
		root := f.root(int32(i))
		if at[root] == 0 {
			groups = append(groups, make([]int, 0, f.size[root]))
			at[root] = len(groups)
		}
		g := &groups[at[root]-1]
		*g = append(*g, i)
	}
	return groups
}

// Components are the groups, the largest first.
func (f *Forest) Components() [][]int {
	groups := f.Groups()
	slices.SortStableFunc(groups, func(a, b []int) int { return len(b) - len(a) })
	return groups
}
