package covariance

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// nearestCorrelation replaces g, symmetric with ones on its diagonal, by the correlation
// matrix nearest to it in the Frobenius norm (Higham 2002), unless g is one. It is
// Newton's method on the dual,
//
//	minimise θ(y) = ½‖(G + Diag y)₊‖² − Σ yi,   X = (G + Diag y)₊,
//
// of Qi and Sun, "A quadratically convergent Newton method for computing the nearest
// correlation matrix", SIAM J. Matrix Analysis 28 (2006). A₊ has the negative
// eigenvalues of A set to zero; the gradient of θ is diag X − 1, and the method ends
// when that is at most diagonalTolerance. X is then scaled to ones on its diagonal.
func nearestCorrelation(ctx context.Context, g *dense.Sym, engine dense.Engine) error {
	n := newNewton(g, engine)
	if err := n.evaluate(ctx, n.y); err != nil {
		return err
	}
	if d := g.Len(); d == 0 || n.values[0] >= -dense64(d)*n.values[d-1] {
		return nil
	}
	for floats.Norm(n.gradient, math.Inf(1)) > diagonalTolerance {
		if err := n.step(ctx); err != nil {
			return err
		}
	}
	n.solution(g)
	return nil
}

// diagonalTolerance is how far the diagonal of the solution may be from 1.
const diagonalTolerance = 1e-9

// dense64 is the rounding of a d×d eigendecomposition, relative to its norm.
func dense64(d int) float64 { return 8 * float64(d) * 0x1p-52 }

var errNearest = errors.New("the nearest correlation matrix was not found: the pairwise correlations are too far from one; fill in missing values, or leave out the variables that have most of them")

// newton is the state of nearestCorrelation.
type newton struct {
	g      *dense.Sym
	d      int
	work   *dense.Workspace
	engine dense.Engine

	y        []float64
	value    float64   // θ(y)
	gradient []float64 // diag X − 1
	vectors  *dense.Sym
	values   []float64 // ascending
	positive int       // the first positive eigenvalue

	// Of the products with the Hessian.
	weights, product, image []float64
	trial, direction        []float64
	residual, conjugate, hp []float64
}

func newNewton(g *dense.Sym, engine dense.Engine) *newton {
	d := g.Len()
	r := rows(8, d)
	return &newton{
		g: g, d: d, work: dense.NewWorkspace(engine, d), engine: engine,
		y: r[0], gradient: r[1], values: r[2], trial: r[3], direction: r[4], residual: r[5], conjugate: r[6], hp: r[7],
		vectors: dense.NewSym(d, nil),
	}
}

// evaluate sets value, gradient and the eigendecomposition to those at y.
func (n *newton) evaluate(ctx context.Context, y []float64) error {
	copy(n.vectors.Raw(), n.g.Raw())
	for i, v := range y {
		n.vectors.Set(i, i, n.vectors.At(i, i)+v)
	}
	var failed error
	if err := dense.Await(ctx, func() { failed = n.work.Eigen(n.vectors, n.values, n.vectors.Raw()) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	copy(n.y, y)
	n.positive = 0
	for n.positive < n.d && n.values[n.positive] <= 0 {
		n.positive++
	}
	n.value = -floats.Sum(y)
	for i := range n.gradient {
		n.gradient[i] = -1
	}
	for k := n.positive; k < n.d; k++ {
		lambda := n.values[k]
		n.value += lambda * lambda / 2
		for i, v := range n.vector(k) {
			n.gradient[i] += lambda * v * v
		}
	}
	return nil
}

// vector is the eigenvector of value k.
func (n *newton) vector(k int) []float64 { return n.vectors.Raw()[k*n.d : (k+1)*n.d] }

// step is one step of Newton, shortened until θ falls by a part of what the gradient
// promises.
func (n *newton) step(ctx context.Context) error {
	n.prepareHessian()
	if err := n.solve(ctx); err != nil {
		return err
	}
	slope, before := floats.Dot(n.gradient, n.direction), n.value
	start := append([]float64(nil), n.y...)
	const enough, shortest = 1e-4, 1e-10
	for length := 1.0; ; length /= 2 {
		if length < shortest || !(slope < 0) {
			return errNearest
		}
		floats.AddScaledTo(n.trial, start, length, n.direction)
		if err := n.evaluate(ctx, n.trial); err != nil {
			return err
		}
		if n.value <= before+enough*length*slope+dense64(n.d)*math.Abs(before) {
			return nil
		}
	}
}

// solve finds the direction: the Hessian times it is the negative gradient, by conjugate
// gradients to a tenth of the gradient or its square, whichever is less.
func (n *newton) solve(ctx context.Context) error {
	clear(n.direction)
	floats.ScaleTo(n.residual, -1, n.gradient)
	copy(n.conjugate, n.residual)
	norm := floats.Dot(n.residual, n.residual)
	goal := math.Min(0.1, math.Sqrt(norm)) * math.Sqrt(norm)
	for range 2 * n.d { // in exact arithmetic d are enough
		if math.Sqrt(norm) <= goal {
			break
		}
		if err := dense.Await(ctx, func() { n.hessian(n.hp, n.conjugate) }); err != nil {
			return err
		}
		curvature := floats.Dot(n.conjugate, n.hp)
		if !(curvature > 0) {
			break
		}
		length := norm / curvature
		floats.AddScaled(n.direction, length, n.conjugate)
		floats.AddScaled(n.residual, -length, n.hp)
		next := floats.Dot(n.residual, n.residual)
		floats.AddScaledTo(n.conjugate, n.residual, next/norm, n.conjugate)
		norm = next
	}
	if floats.Norm(n.direction, 2) == 0 {
		copy(n.direction, n.residual)
	}
	return nil
}

// prepareHessian sets the weights of the eigenvectors on the smaller side, positive or
// not, with all.
//
// The Hessian maps h to diag(Q(Ω∘(QᵀDiag(h)Q))Qᵀ) with Ωkl = 1 for two positive
// eigenvalues, λk/(λk − λl) for a positive λk and another λl, and 0 for two others. With
// 1 − Ω in its place the image is h minus that, so that one side is enough.
func (n *newton) prepareHessian() {
	from, to := n.side()
	n.weights = resize(n.weights, (to-from)*n.d)
	n.product = resize(n.product, (to-from)*n.d)
	n.image = resize(n.image, (to-from)*n.d)
	for k := from; k < to; k++ {
		row := n.weights[(k-from)*n.d : (k-from+1)*n.d]
		for l := range row {
			if l >= from && l < to {
				row[l] = 1
				continue
			}
			// Both halves of the matrix at once.
			row[l] = 2 * math.Abs(n.values[k]) / (math.Abs(n.values[k]) + math.Abs(n.values[l]))
		}
	}
}

// side is the range of the smaller side.
func (n *newton) side() (from, to int) {
	if n.positive <= n.d/2 {
		return 0, n.positive
	}
	return n.positive, n.d
}

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// hessian sets dst to the Hessian times h, lightly regularised.
func (n *newton) hessian(dst, h []float64) {
	from, to := n.side()
	d, rank := n.d, to-from
	// image, for the moment, is the side's eigenvectors times Diag h.
	for k := range rank {
		floats.MulTo(n.image[k*d:(k+1)*d], n.vector(from+k), h)
	}
	all := n.vectors.Raw()
	n.engine.Gemm(false, true, rank, d, d, 1, n.image, d, all, d, 0, n.product, d)
	floats.Mul(n.product, n.weights)
	n.engine.Gemm(false, false, rank, d, d, 1, n.product, d, all, d, 0, n.image, d)
	clear(dst)
	for k := range rank {
		for i, v := range n.vector(from + k) {
			dst[i] += v * n.image[k*d+i]
		}
	}
	const regular = 1e-12
	if from == 0 { // the side that is not positive
		for i, v := range dst {
			dst[i] = h[i]*(1+regular) - v
		}
		return
	}
	floats.AddScaled(dst, regular, h)
}

// solution sets x to X, with its diagonal scaled to 1.
func (n *newton) solution(x *dense.Sym) {
	clear(n.values[:n.positive])
	n.work.Spectral(x, n.values, n.vectors.Raw())
	unitDiagonal(x)
}

// unitDiagonal scales a covariance to a correlation.
func unitDiagonal(s *dense.Sym) {
	d := s.Len()
	roots := make([]float64, d)
	for i := range roots {
		roots[i] = math.Sqrt(s.At(i, i))
	}
	for i := range d {
		s.Set(i, i, 1)
		for j := i + 1; j < d; j++ {
			s.Set(i, j, clamp(s.At(i, j)/(roots[i]*roots[j])))
		}
	}
}
