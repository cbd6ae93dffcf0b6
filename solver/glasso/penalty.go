package glasso

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

// Penalty is ρ in the units of S: one number for every pair, or a matrix.
type Penalty struct {
	// Rho is the penalty of every off-diagonal entry. It is not negative.
	Rho float64
	// Matrix, if set, holds the penalty of every entry in place of Rho: d×d,
	// no entry negative. Its diagonal counts only if Diagonal is set.
	Matrix *dense.Sym
	// Diagonal penalises the diagonal of Θ as well. Default: off-diagonal
	// entries only.
	Diagonal bool
}

func (p Penalty) validate(d int) error {
	if p.Matrix == nil {
		if !(p.Rho >= 0) || math.IsInf(p.Rho, 0) {
			return fmt.Errorf("the penalty is %v; it must be a number that is zero or positive", p.Rho)
		}
		return nil
	}
	if p.Matrix.Len() != d {
		return fmt.Errorf("the penalty matrix is %d×%[1]d for %d variables", p.Matrix.Len(), d)
	}
	for i := range d {
		for j, v := range p.Matrix.Row(i) {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("entry (%d,%d) of the penalty matrix is %v; it must be a number that is zero or positive", i, j, v)
			}
		}
	}
	return nil
}

// at is ρij.
func (p Penalty) at(i, j int) float64 {
	switch {
	case i == j && !p.Diagonal:
		return 0
	case p.Matrix != nil:
		return p.Matrix.At(i, j)
	}
	return p.Rho
}

// penalties are the ρij of one block. A uniform penalty needs one row, not a
// matrix.
type penalties struct {
	uniform  []float64  // the one row of off-diagonal penalties, or nil
	matrix   *dense.Sym // all of them, or nil
	diagonal []float64
}

// row holds ρij at j ≠ i; entry i is not used; ρii is in diagonal.
func (p *penalties) row(i int) []float64 {
	if p.matrix != nil {
		return p.matrix.Row(i)
	}
	return p.uniform
}

// newPenalties are those of the variables idx after Θ has been rescaled to
// Θij·√(vi·vj), which divides ρij by √(vi·vj). scale holds 1/√vi.
func newPenalties(p Penalty, idx []int, scale []float64) *penalties {
	n := len(idx)
	r := &penalties{diagonal: make([]float64, n)}
	same := p.Matrix == nil
	for a, i := range idx {
		r.diagonal[a] = p.at(i, i) * scale[a] * scale[a]
		same = same && scale[a] == scale[0]
	}
	if same {
		r.uniform = make([]float64, n)
		for a := range r.uniform {
			r.uniform[a] = p.Rho * scale[0] * scale[0]
		}
		return r
	}
	r.matrix = dense.NewSym(n, nil)
	for a, i := range idx {
		for b := range a {
			r.matrix.Set(a, b, p.at(i, idx[b])*scale[a]*scale[b])
		}
	}
	return r
}
