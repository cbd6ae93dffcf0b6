package covariance

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/dense"
)

// moments accumulates Σk (xk−x̄)(xk−x̄)ᵀ over blocks of samples: Chan, Golub
// and LeVeque, "Updating formulae and a pairwise algorithm for computing
// sample variances" (1979), for matrices.
//
// It works on y = (x − shift)·2^−exponent, column by column. The shift is the
// first sample, so that a large common part of a column goes before anything
// is rounded. The exponent makes the largest |y| seen so far lie in [½, 1), so
// that no square overflows or underflows whatever the units; being a power of
// two it costs no accuracy.
type moments struct {
	engine dense.Engine
	d      int

	samples  int
	shift    []float64
	exponent []int
	seen     []bool    // whether a column has left its shift yet
	mean     []float64 // of y
	sums     []float64 // d×d, upper triangle: Σ(y−ȳ)(y−ȳ)ᵀ

	// accumulator has the sums instead, once the engine has taken them, until collect.
	accumulator dense.Accumulator

	centred []float64 // (blockRows+1)×d
	largest []float64
	factor  []float64
}

// smallestExponent keeps 2^−exponent finite for subnormal columns.
const smallestExponent = -1000

func newMoments(d int, engine dense.Engine) *moments {
	return &moments{
		engine:   engine,
		d:        d,
		exponent: make([]int, d),
		seen:     make([]bool, d),
		mean:     make([]float64, d),
		sums:     make([]float64, d*d),
		largest:  make([]float64, d),
		factor:   make([]float64, d),
	}
}

// add takes in a block, which it leaves as it is.
func (m *moments) add(ctx context.Context, b block) error {
	if err := m.offer(ctx, b.rows); err != nil {
		return err
	}
	to := m.accumulator
	var rows int
	var scales []float64
	// After the end of ctx this goes on beside close.
	err := dense.Await(ctx, func() {
		rows, scales = m.centre(b, to == nil)
		if to == nil {
			m.engine.Syrk(true, m.d, rows, 1, m.centred, m.d, 1, m.sums, m.d)
		}
	})
	if err != nil || to == nil {
		return err
	}
	if scales != nil {
		if err := to.Scale(ctx, scales); err != nil {
			return err
		}
	}
	return to.Add(ctx, rows, m.centred)
}

// offer asks an engine that can keep the sums to take them, before n more samples.
func (m *moments) offer(ctx context.Context, n int) (err error) {
	e, ok := m.engine.(dense.AccumulatingEngine)
	if !ok || m.accumulator != nil {
		return nil
	}
	var sums []float64 // nil are zeros
	if m.samples > 0 {
		sums = m.sums
	}
	m.accumulator, err = e.Accumulate(ctx, m.d, blockRows+1, m.samples+n, sums)
	return err
}

// collect takes the sums back.
func (m *moments) collect(ctx context.Context) error {
	if m.accumulator == nil {
		return nil
	}
	return errors.Join(m.accumulator.Sum(ctx, m.sums), m.close())
}

// close gives back what the engine has.
func (m *moments) close() error {
	a := m.accumulator
	if a == nil {
		return nil
	}
	m.accumulator = nil
	return a.Close()
}

// centre makes of a block the rows whose products with themselves are to be added to
// the sums, in m.centred, and returns their number. Where the sums are not here and
// scales is not nil, sum ij is to be multiplied by scales i and j first.
func (m *moments) centre(b block, here bool) (rows int, scales []float64) {
	d, n := m.d, b.rows
	if m.samples == 0 {
		m.shift = append([]float64(nil), b.data[:d]...)
		m.centred = make([]float64, (n+1)*d)
	}
	scales = m.rescale(b, here)
	y := m.centred[:n*d]
	mean := m.largest // done with
	clear(mean)
	for r := range n {
		row := y[r*d : (r+1)*d]
		for j, x := range b.data[r*d : (r+1)*d] {
			row[j] = (x - m.shift[j]) * m.factor[j]
			mean[j] += row[j]
		}
	}
	for j := range mean {
		mean[j] /= float64(n)
	}
	for r := range n {
		row := y[r*d : (r+1)*d]
		for j, c := range mean {
			row[j] -= c
		}
	}
	// The two means differ by δ; joining the sums takes n·N/(n+N)·δδᵀ, one
	// more row of the block.
	rows = n
	if m.samples > 0 {
		total := float64(m.samples + n)
		weight := math.Sqrt(float64(n) * (float64(m.samples) / total))
		last := m.centred[n*d : (n+1)*d]
		for j, c := range mean {
			delta := c - m.mean[j]
			last[j] = weight * delta
			m.mean[j] += delta * (float64(n) / total)
		}
		rows++
	} else {
		copy(m.mean, mean)
	}
	m.samples += n
	return rows, scales
}

// rescale raises the exponents to what block b needs, takes the sums along,
// and sets factor to 2^−exponent. Where the sums are not here it returns what they
// are to be multiplied by, if by anything.
func (m *moments) rescale(b block, here bool) (scales []float64) {
	d := m.d
	clear(m.largest)
	for r := range b.rows {
		for j, x := range b.data[r*d : (r+1)*d] {
			m.largest[j] = max(m.largest[j], math.Abs(x-m.shift[j]))
		}
	}
	raised := false
	for j, v := range m.largest {
		m.factor[j] = 1
		if v == 0 {
			continue
		}
		_, e := math.Frexp(v)
		e = max(e, smallestExponent)
		if !m.seen[j] {
			m.seen[j], m.exponent[j] = true, e // all sums of this column are 0
		} else if e > m.exponent[j] {
			m.factor[j] = math.Ldexp(1, m.exponent[j]-e)
			m.exponent[j] = e
			raised = true
		}
	}
	if raised {
		for i, f := range m.factor {
			m.mean[i] *= f
			if !here {
				continue
			}
			row := m.sums[i*d : (i+1)*d]
			for j := i; j < d; j++ {
				row[j] *= f * m.factor[j]
			}
		}
		if !here {
			scales = slices.Clone(m.factor)
		}
	}
	for j, e := range m.exponent {
		m.factor[j] = math.Ldexp(1, -e)
	}
	return scales
}

// spread is that of the samples so far, at least one.
func (m *moments) spread() spread {
	s := spread{means: make([]float64, m.d), sds: make([]float64, m.d)}
	for j := range m.d {
		s.means[j] = m.shift[j] + math.Ldexp(m.mean[j], m.exponent[j])
		s.sds[j] = math.Ldexp(math.Sqrt(m.sums[j*m.d+j]/float64(m.samples)), m.exponent[j])
	}
	return s
}

// covariance is the sum over divisor, in the units of the variables. It takes the
// memory of the sums, which are gone then.
func (m *moments) covariance(divisor float64) *dense.Sym {
	unit := make([]float64, m.d)
	for j, e := range m.exponent {
		unit[j] = math.Ldexp(1, e)
	}
	s := m.takeSums()
	for i := range m.d {
		for j := i; j < m.d; j++ {
			s.Set(i, j, s.At(i, j)/divisor*unit[i]*unit[j])
		}
	}
	return s
}

// takeSums are the sums, whose lower triangle is still to be filled.
func (m *moments) takeSums() *dense.Sym {
	s := dense.NewSym(m.d, m.sums)
	m.sums = nil
	return s
}

// correlation is the sum with its diagonal scaled to 1, in the memory of the sums,
// which are gone then. Every variable varies.
func (m *moments) correlation() *dense.Sym {
	f := m.standardise()
	s := m.takeSums()
	for i := range m.d {
		s.Set(i, i, 1)
		for j := i + 1; j < m.d; j++ {
			s.Set(i, j, clamp(s.At(i, j)*f[i]*f[j]))
		}
	}
	return s
}

// standardise is what multiplies y to give sums of squares of 1. These lie
// between about ⅛ and M before: the first sample is 0 and another at least ½.
func (m *moments) standardise() []float64 {
	f := make([]float64, m.d)
	for j := range f {
		f[j] = 1 / math.Sqrt(m.sums[j*m.d+j])
	}
	return f
}
