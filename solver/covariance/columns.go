package covariance

import (
	"context"
	"io"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Columns are samples of which any part of S can be had without the whole: for variables so
// many that d² numbers are too many, and samples that are fewer than they are. They keep M·d
// numbers: every variable centred and scaled so that Sij is the product of columns i and j.
//
//	c, r, err := covariance.EstimateColumns(ctx, source, d, settings, d)
//	screened, err := c.Screen(ctx, rho, nil)
//	s, err := c.Submatrix(ctx, screened.Components[0])
type Columns struct {
	d, m        int
	x           []float64 // d×m: column j of the samples is row j here
	diagonal    []float64 // of S
	weight      float64   // of what is off the diagonal: 1 less the shrinkage
	correlation bool      // whose entries are clamped
	engine      dense.Engine
}

// EstimateColumns is Estimate for samples that are at most so many. Then it returns Columns,
// and a Result whose S is nil; S is the same up to rounding. Samples that are more are
// estimated from by Estimate: Columns are nil. Settings.LedoitWolf, which needs all of S,
// always is.
func EstimateColumns(ctx context.Context, src Source, d int, s Settings, most int) (*Columns, *Result, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	if d < 1 || s.LedoitWolf {
		r, err := Estimate(ctx, src, d, s)
		return nil, r, err
	}
	e := &estimation{settings: s, d: d, ranked: s.ranked()}
	blocks := newGatherer(src, d, s.Names)
	for {
		b, err := blocks.next(ctx)
		if err != nil {
			return nil, nil, err
		}
		if b.rows == 0 {
			break
		}
		e.samples += b.rows
		e.kept = append(e.kept, b)
		blocks.release()
		if e.samples > most {
			r, err := Estimate(ctx, &replayed{blocks: e.kept, d: d, rest: blocks}, d, s)
			return nil, r, err
		}
	}
	samples, err := e.counted()
	if err != nil {
		return nil, nil, err
	}
	of := spread{means: make([]float64, d), sds: make([]float64, d)}
	if e.ranked {
		if of, err = transform(ctx, e.kept, d, e.samples, s.Method, dense.Threads(s.engine())); err != nil {
			return nil, nil, err
		}
	}
	c := &Columns{
		d: d, m: e.samples, x: make([]float64, d*e.samples), diagonal: make([]float64, d),
		weight: 1 - s.Shrinkage, correlation: s.Method != Covariance, engine: s.engine(),
	}
	divisor := s.Divisor.Of(samples)
	err = dense.Each(ctx, (d+tile-1)/tile, dense.Threads(s.engine()), func(_, k int) error {
		c.fill(e.kept, k*tile, of, e.ranked, divisor)
		return nil
	})
	if err == nil {
		err = of.check(e.samples, s.Names)
	}
	if err == nil && !c.correlation {
		err = representableVariances(c.diagonal, s.Names)
	}
	if err != nil {
		return nil, nil, err
	}
	c.shrink(s.Shrinkage)
	return c, &Result{
		Means: of.means, StdDevs: of.stdDevs(e.samples, divisor), Samples: samples,
		Shrinkage: s.Shrinkage, Method: s.Method, Divisor: s.Divisor,
	}, nil
}

// replayed are blocks that were read, and then the rest of their source.
type replayed struct {
	blocks []block
	d      int
	rest   *gatherer
}

// Next implements Source.
func (r *replayed) Next() ([]float64, int, error) {
	if len(r.blocks) > 0 {
		b := r.blocks[0]
		r.blocks = r.blocks[1:]
		return b.data, b.rows, nil
	}
	b, err := r.rest.next(context.Background()) // whoever reads looks at its own
	if err == nil && b.rows == 0 {
		err = io.EOF
	}
	return b.data, b.rows, err
}

// fill makes the columns from first on, tile of them, of a table of samples or, where it is
// ranked, of their ranks or scores.
func (c *Columns) fill(table []block, first int, of spread, ranked bool, divisor float64) {
	n := min(tile, c.d-first)
	k := 0
	for _, b := range table {
		for row := range b.rows {
			for j, v := range b.data[row*c.d+first : row*c.d+first+n] {
				c.x[(first+j)*c.m+k] = v
			}
			k++
		}
	}
	for j := first; j < first+n; j++ {
		column := c.column(j)
		mean, sd := moments1(column)
		if !ranked {
			of.means[j], of.sds[j] = mean, sd
		}
		c.diagonal[j] = standardiseColumn(column, c.correlation, divisor)
	}
}

// column is that of variable j.
func (c *Columns) column(j int) []float64 { return c.x[j*c.m : (j+1)*c.m] }

// standardiseColumn centres a column and scales it to a sum of squares of 1, or to one that
// is its variance. It returns that sum. One that does not vary becomes zeros.
func standardiseColumn(column []float64, correlation bool, divisor float64) float64 {
	shift := column[0]
	var largest float64
	for _, v := range column {
		largest = max(largest, math.Abs(v-shift))
	}
	if largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 0) {
		clear(column)
		return 0
	}
	// In a unit in which no square overflows or underflows, as moments does it.
	_, e := math.Frexp(largest)
	e = max(e, smallestExponent)
	factor, mean := math.Ldexp(1, -e), 0.0
	for k, v := range column {
		column[k] = (v - shift) * factor
		mean += column[k]
	}
	mean /= float64(len(column))
	var sum, rest float64
	for k := range column {
		column[k] -= mean
		rest += column[k]
	}
	rest /= float64(len(column)) // what rounding has left of the mean
	for k := range column {
		column[k] -= rest
		sum += column[k] * column[k]
	}
	scale := 1 / math.Sqrt(sum)
	if !correlation {
		scale = math.Ldexp(1/math.Sqrt(divisor), e)
	}
	for k := range column {
		column[k] *= scale
	}
	if correlation {
		return 1
	}
	return sum * scale * scale
}

// shrink puts the weight a of the target into the diagonal, as the function shrink does.
func (c *Columns) shrink(a float64) {
	if a == 0 || c.correlation { // (1−a)+a is 1
		return
	}
	var mu float64
	for _, v := range c.diagonal {
		mu += v / float64(c.d)
	}
	for j, v := range c.diagonal {
		c.diagonal[j] = (1-a)*v + a*mu
	}
}

// Len is d.
func (c *Columns) Len() int { return c.d }

// Variance is Sii.
func (c *Columns) Variance(i int) float64 { return c.diagonal[i] }

// entry is Sij for the product of two columns.
func (c *Columns) entry(product float64) float64 {
	if c.correlation {
		product = clamp(product)
	}
	return c.weight * product
}

// blockVariables is the side of the blocks in which products are computed: a block and the
// columns of its sides stay in a core's cache.
const blockVariables = 512

// Submatrix is the part of S of the variables idx, n×n, in that order, computed on all
// threads of the engine. The same variables give the same bits on any number of threads. It
// takes n·(M+n) numbers. The error is that of ctx.
func (c *Columns) Submatrix(ctx context.Context, idx []int) (*dense.Sym, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := len(idx)
	part := make([]float64, n*c.m)
	for a, i := range idx {
		copy(part[a*c.m:], c.column(i))
	}
	s := dense.NewSym(n, nil)
	raw, side := s.Raw(), (n+blockVariables-1)/blockVariables
	pairs := upperBlocks(side)
	one := dense.WithThreads(c.engine, 1)
	err := dense.Each(ctx, len(pairs), dense.Threads(c.engine), func(_, k int) error {
		lo, hi := pairs[k][0]*blockVariables, pairs[k][1]*blockVariables
		rows, columns := min(blockVariables, n-lo), min(blockVariables, n-hi)
		return dense.Await(ctx, func() {
			one.Gemm(false, true, rows, columns, c.m, 1, part[lo*c.m:], c.m, part[hi*c.m:], c.m, 0, raw[lo*n+hi:], n)
			for i := lo; i < lo+rows; i++ {
				for j := max(hi, i+1); j < hi+columns; j++ {
					v := c.entry(raw[i*n+j])
					raw[i*n+j], raw[j*n+i] = v, v
				}
			}
			if lo == hi {
				for i := lo; i < lo+rows; i++ {
					raw[i*n+i] = c.diagonal[idx[i]]
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// upperBlocks are the blocks of the upper triangle of so many times so many, row by row.
func upperBlocks(side int) [][2]int {
	var pairs [][2]int
	for i := range side {
		for j := i; j < side; j++ {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return pairs
}
