//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openBLAS is the engine behind Open("openblas"): the Fortran interface of a
// library opened at run time, without cgo.
//
// Fortran is column-major and takes every argument by address. A row-major
// matrix is its transpose there, so that Gemm swaps its factors, and the upper
// triangle of a row-major matrix is the lower one ('L') of Fortran's.
type openBLAS struct {
	name    string
	gate    gate
	threads atomic.Int64 // for large kernels
	args    sync.Pool    // of *arguments

	dgemm, dsymm, dsyrk, dsytrd, dormtr, dpotrf, dpotri uintptr
	setThreads, getThreads                              uintptr
}

// largeKernel is the product m·n·k from which a kernel has all threads.
// Below, dividing the work costs more than it gains, and much more on a busy
// machine: with n=100 LAPACK's dsyevd takes 0.8 ms on one thread, and 1.4
// to 1.9 ms on two that have one core between them. Small kernels run side by
// side instead, as when connected components are solved in parallel.
const largeKernel = 256 * 256 * 256

// arguments are the scalars of one call, on the heap, so that the library can
// take their addresses. They are reused.
type arguments struct {
	alpha, beta      float64
	m, n, k, a, b, c int32
	info, lwork      int32
	op1, op2, op3    byte
}

// Fortran passes the length of every character argument behind the others.
// Today's callees do not read it, but may use its place on the stack.
const one = 1

// Name returns "OpenBLAS" with version and kernel, such as
// "OpenBLAS 0.3.21 Zen".
func (e *openBLAS) Name() string { return e.name }

// Threads implements Threader.
func (e *openBLAS) Threads() int { return int(e.threads.Load()) }

// SetThreads implements Threader.
func (e *openBLAS) SetThreads(n int) { e.threads.Store(int64(max(1, n))) }

// begin admits a kernel of m·n·k multiplications.
func (e *openBLAS) begin(m, n, k int) *arguments {
	threads := 1
	if float64(m)*float64(n)*float64(k) >= largeKernel {
		threads = e.Threads()
	}
	e.gate.enter(threads)
	return e.args.Get().(*arguments)
}

func (e *openBLAS) end(p *arguments) {
	e.args.Put(p)
	e.gate.leave()
}

// Gemm implements Engine.
func (e *openBLAS) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	p := e.begin(m, n, k)
	defer e.end(p)
	// Cᵀ = op(B)ᵀ·op(A)ᵀ, and the transposes are what Fortran sees.
	p.op1, p.op2 = operation(transB), operation(transA)
	p.m, p.n, p.k = int32(n), int32(m), int32(k)
	p.alpha, p.beta = alpha, beta
	p.a, p.b, p.c = int32(max(1, lda)), int32(max(1, ldb)), int32(ldc)
	purego.SyscallN(e.dgemm,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// Symm implements Engine.
func (e *openBLAS) Symm(m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	p := e.begin(m, n, m)
	defer e.end(p)
	// Cᵀ = Bᵀ·A: A is its own transpose and stands on the right.
	p.op1, p.op2 = 'R', 'L'
	p.m, p.n = int32(n), int32(m)
	p.alpha, p.beta = alpha, beta
	p.a, p.b, p.c = int32(lda), int32(ldb), int32(ldc)
	purego.SyscallN(e.dsymm,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.m)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(&p.b)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// Syrk implements Engine.
func (e *openBLAS) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n == 0 {
		return
	}
	p := e.begin(n, n, k)
	defer e.end(p)
	p.op1, p.op2 = 'L', operation(!trans)
	p.n, p.k = int32(n), int32(k)
	p.alpha, p.beta = alpha, beta
	p.a, p.c = int32(max(1, lda)), int32(ldc)
	purego.SyscallN(e.dsyrk,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)),
		uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.k)),
		uintptr(unsafe.Pointer(&p.alpha)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.a)),
		uintptr(unsafe.Pointer(&p.beta)),
		uintptr(unsafe.Pointer(unsafe.SliceData(c))), uintptr(unsafe.Pointer(&p.c)),
		one, one)
}

// Eigen implements Engine, by divide and conquer: at n = 100 the eigenvectors of
// the tridiagonal matrix take half the time that they take in dsyevd.
func (e *openBLAS) Eigen(n int, a, values []float64, work *Scratch) bool {
	return eigen(e, n, a, values, work)
}

// tridiagonalise implements reducer, by dsytrd.
func (e *openBLAS) tridiagonalise(n int, a, diagonal, offDiagonal, tau []float64, work *Scratch) {
	p := e.begin(n, n, n)
	defer e.end(p)
	p.op1, p.n = 'L', int32(n)
	p.reserve(work, n)
	purego.SyscallN(e.dsytrd,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(diagonal))),
		uintptr(unsafe.Pointer(unsafe.SliceData(offDiagonal))),
		uintptr(unsafe.Pointer(unsafe.SliceData(tau))),
		uintptr(unsafe.Pointer(unsafe.SliceData(work.Float))), uintptr(unsafe.Pointer(&p.lwork)),
		uintptr(unsafe.Pointer(&p.info)),
		one)
}

// back implements reducer, by dormtr. Fortran's columns are rows here.
func (e *openBLAS) back(n int, a, tau, q []float64, work *Scratch) {
	p := e.begin(n, n, n)
	defer e.end(p)
	p.op1, p.op2, p.op3, p.n = 'L', 'L', 'N', int32(n)
	p.reserve(work, n)
	purego.SyscallN(e.dormtr,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.op2)), uintptr(unsafe.Pointer(&p.op3)),
		uintptr(unsafe.Pointer(&p.n)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(tau))),
		uintptr(unsafe.Pointer(unsafe.SliceData(q))), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(work.Float))), uintptr(unsafe.Pointer(&p.lwork)),
		uintptr(unsafe.Pointer(&p.info)),
		one, one, one)
}

// reserve makes work as large as LAPACK's blocked routines need it: 64 columns,
// their largest block, and the triangle of one. The size that dormtr itself
// reports leaves out the triangle; with that it works in small blocks and takes
// 1.5 times as long at n = 100.
func (p *arguments) reserve(work *Scratch, n int) {
	const block = 64
	work.Float = grow(work.Float, n*block+(block+1)*block)
	p.lwork = int32(len(work.Float))
}

// Cholesky implements Engine.
func (e *openBLAS) Cholesky(n int, a []float64) bool { return e.triangle(e.dpotrf, n, a) }

// CholeskyInverse implements Engine.
func (e *openBLAS) CholeskyInverse(n int, a []float64) bool { return e.triangle(e.dpotri, n, a) }

// triangle calls dpotrf or dpotri.
func (e *openBLAS) triangle(function uintptr, n int, a []float64) bool {
	if n == 0 {
		return true
	}
	p := e.begin(n, n, n)
	defer e.end(p)
	p.op1 = 'L'
	p.n = int32(n)
	purego.SyscallN(function,
		uintptr(unsafe.Pointer(&p.op1)), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(&p.n)),
		uintptr(unsafe.Pointer(&p.info)),
		one)
	return p.info == 0
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
