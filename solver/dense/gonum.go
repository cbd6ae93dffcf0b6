package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// Gonum is the engine in pure Go that every machine has. Its zero value works on as
// many processors as Go does; see WithThreads. Some of gonum's LAPACK does so always.
type Gonum struct{ *threads }

var (
	goBLAS   gonum.Implementation
	goLAPACK lapackgonum.Implementation
)

// withThreads is for WithThreads.
func (Gonum) withThreads(n int) Engine { return Gonum{newThreads(n)} }

// Name returns "gonum".
func (Gonum) Name() string { return "gonum" }

// Gemm implements Engine.
func (g Gonum) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if rows, columns := (m+gonumTile-1)/gonumTile, (n+gonumTile-1)/gonumTile; g.threads != nil && k > 0 && rows*columns >= 4 {
		g.share(rows*columns, func(i int) {
			top, left := i/columns*gonumTile, i%columns*gonumTile
			height, width := min(gonumTile, m-top), min(gonumTile, n-left)
			beta := beta
			for from := 0; from < k; from += gonumTile {
				goBLAS.Dgemm(transpose(transA), transpose(transB), height, width, min(gonumTile, k-from), alpha,
					a[start(top, lda, !transA)+start(from, lda, transA):], lda,
					b[start(left, ldb, transB)+start(from, ldb, !transB):], ldb,
					beta, c[top*ldc+left:], ldc)
				beta = 1
			}
		})
		return
	}
	// With k = 0 there is no A and no B; gonum still wants their strides.
	g.alone(func() {
		goBLAS.Dgemm(transpose(transA), transpose(transB), m, n, k, alpha, a, max(1, lda), b, max(1, ldb), beta, c, ldc)
	})
}

// gonumTile is the side of the blocks into which gonum divides products of four
// blocks or more, for as many goroutines as there are processors. Divided in the
// same way for the threads of an engine, they have the same bits.
const gonumTile = 64

// Symm implements Engine. It calls Gemm, which gonum runs on all cores, while
// its Dsymm runs on one.
func (g Gonum) Symm(m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	g.Gemm(false, false, m, n, m, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Syrk implements Engine. It goes down the diagonal in strips of Gemm, which
// gonum runs on all cores, while its Dsyrk runs on one.
func (g Gonum) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	const strip = 128
	for i := 0; i < n; i += strip {
		from := a
		switch {
		case k == 0: // there is no A
		case trans:
			from = a[i:]
		default:
			from = a[i*lda:]
		}
		g.Gemm(trans, !trans, min(strip, n-i), n-i, k, alpha, from, lda, from, lda, beta, c[i*ldc+i:], ldc)
	}
}

// Eigen implements Engine, by divide and conquer.
func (g Gonum) Eigen(n int, a, values []float64, work *Scratch) bool {
	return eigen(g, n, a, values, work)
}

// tridiagonalise implements reducer.
func (g Gonum) tridiagonalise(n int, a, diagonal, offDiagonal, tau []float64, work *Scratch) {
	g.alone(func() {
		sized(work, func(work []float64, lwork int) {
			goLAPACK.Dsytrd(blas.Upper, n, a, n, diagonal, offDiagonal[:n-1], tau[:n-1], work, lwork)
		})
	})
}

// back implements reducer. It forms the product of the reflections: Dormqr, which
// would apply them, is wrong in gonum 0.17.0 where one of them ends in zeros, for
// Dlarft cuts the others short with it. That is the case of the reflections from
// the top (blas.Lower) only.
func (g Gonum) back(n int, a, tau, q []float64, work *Scratch) {
	g.alone(func() {
		sized(work, func(work []float64, lwork int) {
			goLAPACK.Dorgtr(blas.Upper, n, a, n, tau[:n-1], work, lwork)
		})
	})
	work.Float = grow(work.Float, n*n)
	g.Gemm(false, true, n, n, n, 1, q, n, a, n, 0, work.Float, n)
	copy(q, work.Float)
}

// sized calls f twice, first for the size of its memory.
func sized(work *Scratch, f func(work []float64, lwork int)) {
	work.Float = grow(work.Float, max(1, cap(work.Float)))
	f(work.Float, -1)
	work.Float = grow(work.Float, int(work.Float[0]))
	f(work.Float, len(work.Float))
}

// Cholesky implements Engine.
func (g Gonum) Cholesky(n int, a []float64) (ok bool) {
	g.alone(func() { ok = n == 0 || goLAPACK.Dpotrf(blas.Upper, n, a, n) })
	return ok
}

// CholeskyInverse implements Engine.
func (g Gonum) CholeskyInverse(n int, a []float64) (ok bool) {
	g.alone(func() { ok = n == 0 || goLAPACK.Dpotri(blas.Upper, n, a, n) })
	return ok
}

func transpose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}
