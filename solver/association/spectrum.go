package association

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Filter is what a spectral score makes of an eigenvalue of the correlation, which
// is not negative: a finite number, not negative either.
type Filter func(eigenvalue float64) float64

// Power is λ^0.35.
func Power(eigenvalue float64) float64 { return math.Pow(eigenvalue, 0.35) }

// Logarithm is log(1 + λ/0.1).
func Logarithm(eigenvalue float64) float64 { return math.Log1p(eigenvalue / 0.1) }

// Shrunk is the inverse of the correlation shrunk to the identity with a weight a in
// (0, 1]: 1/((1−a)·λ + a). Its score is that of PartialCorrelation.
func Shrunk(a float64) Filter {
	return func(eigenvalue float64) float64 { return 1 / ((1-a)*eigenvalue + a) }
}

// A Spectrum is the eigendecomposition of a correlation of d variables. It serves one
// goroutine at a time.
type Spectrum struct {
	scorer  Scorer
	work    *dense.Workspace
	values  []float64
	vectors []float64 // one a row
	f       []float64
	root    []float64
}

// Decompose decomposes a correlation, which it leaves as it is. It is an error if that
// has an entry that is not finite.
func (s Scorer) Decompose(ctx context.Context, r *dense.Sym) (*Spectrum, error) {
	d := r.Len()
	p := &Spectrum{
		scorer: s, work: dense.NewWorkspace(s.engine(), d),
		values: make([]float64, d), vectors: make([]float64, d*d), f: make([]float64, d), root: make([]float64, d),
	}
	var err error
	if ended := dense.AwaitLong(ctx, d, func() { err = p.work.Eigen(r, p.values, p.vectors) }); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, err
	}
	for k, v := range p.values {
		p.values[k] = max(0, v) // rounding may carry it below
	}
	return p, nil
}

// Eigenvalues are those of the correlation, ascending, none negative. They are the
// spectrum's own.
func (p *Spectrum) Eigenvalues() []float64 { return p.values }

// Score sets dst to |Aij|/√(Aii·Ajj) with A = Q·g(Λ)·Qᵀ, in [0, 1]: 0 where a
// variable has no Aii. dst is d×d, and not the matrix that was decomposed if that is
// to be kept.
func (p *Spectrum) Score(ctx context.Context, dst *dense.Sym, g Filter) error {
	for k, v := range p.values {
		p.f[k] = g(v)
	}
	if err := dense.AwaitLong(ctx, dst.Len(), func() { p.work.Spectral(dst, p.f, p.vectors) }); err != nil {
		return err
	}
	return normalise(ctx, p.scorer.threads(), dst, p.root)
}

// PartialCorrelation sets dst to |Θij|/√(Θii·Θjj), where Θ is the inverse of
// (1−a)·R + a·I, for a weight a in (0, 1]. It reports with false that this is not
// positive definite, which rounding brings about for tiny weights only. dst is d×d,
// and may be r.
func (s Scorer) PartialCorrelation(ctx context.Context, dst, r *dense.Sym, a float64) (definite bool, err error) {
	d := r.Len()
	if dst != r {
		dst.CopyFrom(r)
	}
	dst.Scale(1 - a)
	dst.AddDiagonal(a)
	if err := dense.AwaitLong(ctx, d, func() { _, definite = dense.NewWorkspace(s.engine(), d).Inverse(dst, dst) }); err != nil {
		return false, err
	}
	if !definite {
		return false, nil
	}
	return true, normalise(ctx, s.threads(), dst, make([]float64, d))
}

// normalise divides |aij| by the roots of the diagonal, which becomes 0.
func normalise(ctx context.Context, threads int, a *dense.Sym, root []float64) error {
	for i := range root {
		root[i] = 0 // what is divided by it is 0
		if v := a.At(i, i); v > 0 {
			root[i] = 1 / math.Sqrt(v)
		}
	}
	return eachRow(ctx, a.Len(), threads, func(i int) {
		row := a.Row(i)
		for j, v := range row {
			row[j] = min(1, math.Abs(v)*(root[i]*root[j]))
		}
		row[i] = 0
	})
}

// rowsTogether are the rows of a matrix that a goroutine takes at a time.
const rowsTogether = 16

// eachRow calls f for 0 ≤ i < d from so many goroutines.
func eachRow(ctx context.Context, d, threads int, f func(i int)) error {
	return dense.Each(ctx, (d+rowsTogether-1)/rowsTogether, threads, func(_, block int) error {
		for i := block * rowsTogether; i < min(d, (block+1)*rowsTogether); i++ {
			f(i)
		}
		return nil
	})
}
