//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the Fortran interface of OpenBLAS, opened at run time, without cgo. Its
// kernels run on the thread that calls them, and are safe for concurrent use.
//
// Fortran is column-major and takes every argument by address. A row-major
// matrix is its transpose there, so that gemm swaps its factors, and the upper
// triangle of a row-major matrix is the lower one ('L') of Fortran's.
type library struct {
	name string
	args sync.Pool // of *arguments

	dgemm, dsymm, dsyrk, dsyr2k, dtrsm, dtrmm uintptr
	dpotrf, dpotri, dtrtri, dlauum            uintptr
	dsytrd, dlatrd, dormtr, dgemv             uintptr
}

// arguments are the scalars of one call, on the heap, so that the library can
// take their addresses. They are reused.
type arguments struct {
	alpha, beta        float64
	m, n, k, a, b, c   int32
	info, lwork        int32
	op1, op2, op3, op4 byte
}

// Fortran passes the length of every character argument behind the others.
// Today's callees do not read it, but may use its place on the stack.
const one = 1

// Name returns "OpenBLAS" with version and kernel, such as
// "OpenBLAS 0.3.21 Zen".
func (l *library) Name() string { return l.name }

func (l *library) arguments() *arguments { return l.args.Get().(*arguments) }

// gemm is Engine.Gemm, on rows and columns that are there.
func (l *library) gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	p := l.arguments()
	defer l.args.Put(p)
	// Cᵀ = op(B)ᵀ·op(A)ᵀ, and the transposes are what Fortran sees.
	p.op1, p.op2 = operation(transB), operation(transA)
	p.m, p.n, p.k = int32(n), int32(m), int32(k)
	p.alpha, p.beta = alpha, beta
	p.a, p.b, p.c = int32(max(1, lda)), int32(max(1, ldb)), int32(ldc)
	purego.SyscallN(l.dgemm,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// symm is Engine.Symm, or with right set C = alpha·B·A + beta·C with A n×n.
func (l *library) symm(right bool, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	p := l.arguments()
	defer l.args.Put(p)
	// Cᵀ = Bᵀ·A: A is its own transpose and stands on the other side.
	p.op1, p.op2 = 'R', 'L'
	if right {
		p.op1 = 'L'
	}
	p.m, p.n = int32(n), int32(m)
	p.alpha, p.beta = alpha, beta
	p.a, p.b, p.c = int32(lda), int32(ldb), int32(ldc)
	purego.SyscallN(l.dsymm,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// syrk is Engine.Syrk.
func (l *library) syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.op2 = 'L', operation(!trans)
	p.n, p.k = int32(n), int32(k)
	p.alpha, p.beta = alpha, beta
	p.a, p.c = int32(max(1, lda)), int32(ldc)
	purego.SyscallN(l.dsyrk,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// syr2k subtracts Aᵀ·B + Bᵀ·A, with A and B k×n, from the upper triangle of C.
func (l *library) syr2k(n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.op2 = 'L', 'N'
	p.n, p.k = int32(n), int32(k)
	p.alpha, p.beta = -1, 1
	p.a, p.b, p.c = int32(lda), int32(ldb), int32(ldc)
	purego.SyscallN(l.dsyr2k,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// gemv adds alpha·A·x to y, or alpha·Aᵀ·x where trans is set, for A m×n.
func (l *library) gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, y []float64) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1 = operation(!trans)
	p.m, p.n = int32(n), int32(m)
	p.alpha, p.beta = alpha, 1
	p.a, p.b, p.c = int32(lda), int32(incX), 1
	purego.SyscallN(l.dgemv,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(x))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(y))), uintptr(unsafe.Pointer(&p.c)),
		one)
}

// triangular calls dtrsm or dtrmm: B, m×n, becomes alpha·B·op(U) or, with the
// triangle on the left, alpha·op(U)·B, where U is upper triangular and op its
// inverse, or nothing, and the transpose of that where trans is set.
func (l *library) triangular(function uintptr, left, trans bool, m, n int, alpha float64, u []float64, ldu int, b []float64, ldb int) {
	p := l.arguments()
	defer l.args.Put(p)
	// Fortran has Bᵀ, and Uᵀ on the other side of it.
	p.op1 = 'L'
	if left {
		p.op1 = 'R'
	}
	p.op2, p.op3, p.op4 = 'L', operation(trans), 'N'
	p.m, p.n = int32(n), int32(m)
	p.alpha = alpha
	p.a, p.b = int32(ldu), int32(ldb)
	purego.SyscallN(function,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)), uintptr(unsafe.Pointer(&p.op3)), uintptr(unsafe.Pointer(&p.op4)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(u))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		one, one, one, one)
}

// triangle calls dpotrf, dpotri or dlauum on an upper triangle.
func (l *library) triangle(function uintptr, n int, a []float64, lda int) bool {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1 = 'L'
	p.n, p.a = int32(n), int32(lda)
	purego.SyscallN(function,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.info)),
		one)
	return p.info == 0
}

// trtri replaces an upper triangle by its inverse.
func (l *library) trtri(n int, u []float64, ldu int) bool {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.op2 = 'L', 'N'
	p.n, p.a = int32(n), int32(ldu)
	purego.SyscallN(l.dtrtri,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(u))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.info)),
		one, one)
	return p.info == 0
}

// sytrd is reducer.tridiagonalise for a matrix with the stride lda.
func (l *library) sytrd(n int, a []float64, lda int, diagonal, offDiagonal, tau, work []float64) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.n, p.a, p.lwork = 'L', int32(n), int32(lda), int32(len(work))
	purego.SyscallN(l.dsytrd,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(diagonal))),
		uintptr(unsafe.Pointer(unsafe.SliceData(offDiagonal))),
		uintptr(unsafe.Pointer(unsafe.SliceData(tau))),
		uintptr(unsafe.Pointer(unsafe.SliceData(work))), uintptr(unsafe.Pointer(&p.lwork)),
		uintptr(unsafe.Pointer(&p.info)),
		one)
}

// latrd does the first k rows of sytrd, and leaves the rest of the matrix as it
// was: it wants the products of these rows with w, k×n, subtracted. Where rows
// have ones that are implied, they are there.
func (l *library) latrd(n, k int, a []float64, lda int, offDiagonal, tau, w []float64, ldw int) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.n, p.k, p.a, p.b = 'L', int32(n), int32(k), int32(lda), int32(ldw)
	purego.SyscallN(l.dlatrd,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(offDiagonal))),
		uintptr(unsafe.Pointer(unsafe.SliceData(tau))),
		uintptr(unsafe.Pointer(unsafe.SliceData(w))), uintptr(unsafe.Pointer(&p.b)),
		one)
}

// ormtr is reducer.back for rows of q. Fortran's columns are rows here.
func (l *library) ormtr(n, rows int, a, tau, q, work []float64) {
	p := l.arguments()
	defer l.args.Put(p)
	p.op1, p.op2, p.op3 = 'L', 'L', 'N'
	p.m, p.n, p.lwork = int32(n), int32(rows), int32(len(work))
	purego.SyscallN(l.dormtr,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)), uintptr(unsafe.Pointer(&p.op3)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.m)),
		uintptr(unsafe.Pointer(unsafe.SliceData(tau))),
		uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(unsafe.Pointer(&p.m)),
		uintptr(unsafe.Pointer(unsafe.SliceData(work))), uintptr(unsafe.Pointer(&p.lwork)),
		uintptr(unsafe.Pointer(&p.info)),
		one, one, one)
}

// lapackWork is how much memory LAPACK's blocked routines need for n columns: 64 of
// them, their largest block, and the triangle of one. The size that dormtr itself
// reports leaves out the triangle; with that it works in small blocks and takes
// 1.5 times as long at n = 100.
func lapackWork(n int) int {
	const block = 64
	return n*block + (block+1)*block
}

func operation(trans bool) byte {
	if trans {
		return 'T'
	}
	return 'N'
}

// describe makes a name of openblas_get_config's answer, such as
// "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64".
func describe(config string) string {
	words := strings.Fields(config)
	name := "OpenBLAS"
	if len(words) > 1 && words[0] == name {
		name += " " + words[1]
	}
	for _, w := range words[min(2, len(words)):] {
		// The one word in mixed case is the processor's kernel.
		if w != strings.ToUpper(w) {
			name += " " + w
		}
	}
	return name
}
