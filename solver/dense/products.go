//go:build (linux || darwin) && (amd64 || arm64)

package dense

// openBLAS is the engine behind Open("openblas"). What it does on several threads
// is divided here, in products.go, inverse.go and reduction.go, into calls of the
// library's kernels on one thread: the library's own threads wait for each other in
// loops that call sched_yield, and on a busy machine for most of their time.
type openBLAS struct {
	*library
	*threads
}

// withThreads is for WithThreads.
func (e *openBLAS) withThreads(n int) Engine { return &openBLAS{e.library, newThreads(n)} }

// largeKernel is the product m·n·k from which a kernel has several threads.
// Below, dividing the work costs more than it gains. Small kernels run side by
// side instead, as when connected components are solved in parallel.
const largeKernel = 256 * 256 * 256

func large(m, n, k int) bool { return float64(m)*float64(n)*float64(k) >= largeKernel }

// Gemm implements Engine.
func (e *openBLAS) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	switch {
	case m == 0 || n == 0:
	case !large(m, n, k):
		e.alone(func() { e.gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) })
	case n >= m: // divided into columns of C
		count, bound := e.pieces(n)
		e.share(count, func(i int) {
			from, to := bound(i), bound(i+1)
			e.gemm(transA, transB, m, to-from, k, alpha, a, lda, b[start(from, ldb, transB):], ldb, beta, c[from:], ldc)
		})
	default: // into rows
		count, bound := e.pieces(m)
		e.share(count, func(i int) {
			from, to := bound(i), bound(i+1)
			e.gemm(transA, transB, to-from, n, k, alpha, a[start(from, lda, !transA):], lda, b, ldb, beta, c[from*ldc:], ldc)
		})
	}
}

// Symm implements Engine.
func (e *openBLAS) Symm(m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	switch {
	case m == 0 || n == 0:
	case !large(m, n, m):
		e.alone(func() { e.symm(false, m, n, alpha, a, lda, b, ldb, beta, c, ldc) })
	default:
		count, bound := e.pieces(n)
		e.share(count, func(i int) {
			from, to := bound(i), bound(i+1)
			e.symm(false, m, to-from, alpha, a, lda, b[from:], ldb, beta, c[from:], ldc)
		})
	}
}

// Syrk implements Engine.
func (e *openBLAS) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	switch {
	case n == 0:
	case !large(n, n, k):
		e.alone(func() { e.syrk(trans, n, k, alpha, a, lda, beta, c, ldc) })
	default:
		tiles := e.upperTiles(n)
		e.share(len(tiles), func(i int) {
			t := tiles[i]
			rows, c := a[start(t.top, lda, !trans):], c[t.top*ldc+t.left:]
			if t.top == t.left {
				e.syrk(trans, t.height, k, alpha, rows, lda, beta, c, ldc)
			} else {
				e.gemm(trans, !trans, t.height, t.width, k, alpha, rows, lda, a[start(t.left, lda, !trans):], lda, beta, c, ldc)
			}
		})
	}
}

// A tile is rows and columns of a matrix.
type tile struct{ top, left, height, width int }

// upperTiles divides the upper triangle of an n×n matrix into squares on the
// diagonal and rectangles, in the order in which they are best begun, the largest
// first.
func (t *threads) upperTiles(n int) []tile {
	side, longest := 256, 512
	if t.Threads() > 4 {
		side, longest = 128, 256
	}
	var rectangles, squares []tile
	for top := 0; top < n; top += side {
		height := min(side, n-top)
		squares = append(squares, tile{top, top, height, height})
		for left := top + height; left < n; left += longest {
			rectangles = append(rectangles, tile{top, left, height, min(longest, n-left)})
		}
	}
	return append(rectangles, squares...)
}
