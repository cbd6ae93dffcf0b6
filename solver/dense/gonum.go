package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// Gonum is the engine in pure Go that every machine has.
type Gonum struct{}

var (
	goBLAS   gonum.Implementation
	goLAPACK lapackgonum.Implementation
)

// Name returns "gonum".
func (Gonum) Name() string { return "gonum" }

// Gemm implements Engine.
func (Gonum) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	// With k = 0 there is no A and no B; gonum still wants their strides.
	goBLAS.Dgemm(transpose(transA), transpose(transB), m, n, k, alpha, a, max(1, lda), b, max(1, ldb), beta, c, ldc)
}

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

// Eigen implements Engine, by Dsyev: QL on one core, at n = 1000 some 10 to 20
// times slower than OpenBLAS. Three quarters of it are rotations.
func (Gonum) Eigen(n int, a, values []float64, work *Scratch) bool {
	if n == 0 {
		return true
	}
	if !finite(a[:n*n]) {
		return false
	}
	work.Float = grow(work.Float, max(1, cap(work.Float)))
	goLAPACK.Dsyev(lapack.EVCompute, blas.Upper, n, a, n, values, work.Float, -1)
	work.Float = grow(work.Float, int(work.Float[0]))
	if !goLAPACK.Dsyev(lapack.EVCompute, blas.Upper, n, a, n, values, work.Float, len(work.Float)) {
		return false
	}
	transposeInPlace(a, n) // gonum returns the vectors as columns
	return true
}

// Cholesky implements Engine.
func (Gonum) Cholesky(n int, a []float64) bool {
	return n == 0 || goLAPACK.Dpotrf(blas.Upper, n, a, n)
}

// CholeskyInverse implements Engine.
func (Gonum) CholeskyInverse(n int, a []float64) bool {
	return n == 0 || goLAPACK.Dpotri(blas.Upper, n, a, n)
}

func transpose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

func transposeInPlace(a []float64, n int) {
	const b = 48
	for i0 := 0; i0 < n; i0 += b {
		for j0 := i0; j0 < n; j0 += b {
			for i := i0; i < min(i0+b, n); i++ {
				for j := max(j0, i+1); j < min(j0+b, n); j++ {
					a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
				}
			}
		}
	}
}
