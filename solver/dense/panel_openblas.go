//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense/internal/symv"
)

// sharedPanel is the order of a matrix from which a row of a panel is reduced on several threads:
// below, they take longer to meet.
const sharedPanel = 256

// shares reports whether panels of n rows are for reducePanel.
func (e *openBLAS) shares(n int) bool {
	return n >= sharedPanel && symv.Fast && e.Threads() > 1
}

// reducePanel is library.latrd on several threads. It reduces rows 0 to k of the symmetric
// matrix a, of which it reads the upper triangle, to tridiagonal form, with the products of the matrix
// with the reflections in the rows of w (LAPACK's dlatrd: J. J. Dongarra, D. C. Sorensen,
// S. J. Hammarling, Block reduction of matrices to condensed forms for eigenvalue
// computations, J. Comput. Appl. Math. 27, 1989). Nearly all of its time goes into these
// products, which are read from memory once a row: two processors read twice as fast.
func (e *openBLAS) reducePanel(team *Team, n, k int, a []float64, lda int, offDiagonal, tau, w []float64, ldw int, work *Scratch) {
	// Of so many rows a part takes some microseconds, several times what it takes to begin one.
	const rows = 160
	parts := max(2, min(2*e.Threads(), n/rows))
	work.parts = grow(work.parts, parts*n)
	c := panel{e: e, n: n, lda: lda, ldw: ldw, a: a, w: w, parts: work.parts, bounds: make([]int, parts+1)}
	c.multiply = c.part
	products := make([]float64, k)
	for i := range k {
		row := a[i*lda+i : i*lda+n]
		c.refresh(i, row)
		offDiagonal[i], tau[i] = reflect(row[1:])
		c.from, c.v = i+1, row[1:]
		m := n - c.from
		c.divide(parts)
		to := w[i*ldw+c.from : i*ldw+n]
		team.Share(parts, c.multiply)
		clear(to)
		for p := range parts {
			floats.Add(to[c.bounds[p]:], work.parts[p*n+c.bounds[p]:p*n+m])
		}
		c.correct(to, products[:i])
		floats.Scale(tau[i], to)
		floats.AddScaled(to, -tau[i]/2*floats.Dot(to, c.v), c.v)
	}
}

// panel is a reducePanel.
type panel struct {
	e           *openBLAS
	n, lda, ldw int
	from        int // the first row that is not reduced
	a, w        []float64
	v, parts    []float64
	bounds      []int // of the rows of every part, from from on
	multiply    func(p int)
}

// refresh subtracts from row i what the reflections of the rows before it change there.
func (c *panel) refresh(i int, row []float64) {
	if i == 0 {
		return
	}
	c.e.enter()
	defer c.e.leave()
	c.e.gemv(true, i, c.n-i, -1, c.a[i:], c.lda, c.w[i:], c.ldw, row)
	c.e.gemv(true, i, c.n-i, -1, c.w[i:], c.ldw, c.a[i:], c.lda, row)
}

// correct subtracts from to, the product of the matrix with v, what these reflections change in
// the matrix. products is scratch, a number for each of them.
func (c *panel) correct(to, products []float64) {
	k := len(products)
	if k == 0 {
		return
	}
	c.e.enter()
	defer c.e.leave()
	m, a, w := c.n-c.from, c.a[c.from:], c.w[c.from:]
	clear(products)
	c.e.gemv(false, k, m, 1, w, c.ldw, c.v, 1, products)
	c.e.gemv(true, k, m, -1, a, c.lda, products, 1, to)
	clear(products)
	c.e.gemv(false, k, m, 1, a, c.lda, c.v, 1, products)
	c.e.gemv(true, k, m, -1, w, c.ldw, products, 1, to)
}

// divide gives every part as many entries of the triangle.
func (c *panel) divide(parts int) {
	m := c.n - c.from
	for p := range parts {
		// The rows after row r have (m − r)²/2 entries.
		left := 1 - math.Sqrt(1-float64(p)/float64(parts))
		c.bounds[p] = int(float64(m)*left) &^ 3
	}
	c.bounds[parts] = m
}

// part computes one part of the product with v.
func (c *panel) part(p int) {
	m, first := c.n-c.from, c.bounds[p]
	y := c.parts[p*c.n : p*c.n+m]
	clear(y[first:])
	symv.Multiply(m, c.a[c.from*c.lda+c.from:], c.lda, first, c.bounds[p+1], c.v, y)
}

// reflect replaces x by the v of the reflection I − tau·v·vᵀ that takes x to (beta, 0, …), with
// v₁ = 1, or by (1, 0, …) where there is nothing to take away and tau is zero.
func reflect(x []float64) (beta, tau float64) {
	alpha := x[0]
	x[0] = 1
	square := floats.Dot(x[1:], x[1:])
	// The matrix has entries of more than 1e-19, next to which what is less than 1e-135 is nothing.
	if square < 1e-270 {
		clear(x[1:])
		return alpha, 0
	}
	beta = -math.Copysign(math.Sqrt(alpha*alpha+square), alpha)
	floats.Scale(1/(alpha-beta), x[1:])
	return beta, (beta - alpha) / beta
}
