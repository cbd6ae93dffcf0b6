//go:build (linux || darwin) && (amd64 || arm64)

package dense

// Eigen implements Engine, by divide and conquer: at n = 100 the eigenvectors of
// the tridiagonal matrix take half the time that they take in dsyevd.
func (e *openBLAS) Eigen(n int, a, values []float64, work *Scratch) bool {
	return eigen(e, n, a, values, work)
}

// tridiagonalise implements reducer, as dsytrd does: rows are reduced by dlatrd, a
// panel at a time, and the rest of the matrix is updated, here on several threads.
func (e *openBLAS) tridiagonalise(n int, a, diagonal, offDiagonal, tau []float64, work *Scratch) {
	const panel = 32
	work.Float = grow(work.Float, lapackWork(n))
	team := NewTeam(e, e.Threads())
	defer team.Close()
	first := 0
	for ; n-first > 4*panel && large(n-first, n-first, n); first += panel {
		m := n - first
		at := a[first*n+first:]
		if e.shares(m) {
			e.reducePanel(team, m, panel, at, n, offDiagonal[first:], tau[first:], work.Float, m, work)
		} else {
			e.alone(func() { e.latrd(m, panel, at, n, offDiagonal[first:], tau[first:], work.Float, m) })
		}
		e.update(team, m-panel, panel, at[panel:], n, work.Float[panel:], m, at[panel*n+panel:])
		for j := range panel {
			diagonal[first+j] = at[j*n+j]
			at[j*n+j+1] = offDiagonal[first+j]
		}
	}
	e.alone(func() {
		e.sytrd(n-first, a[first*n+first:], n, diagonal[first:], offDiagonal[first:], tau[first:], work.Float)
	})
}

// update is syr2k on several threads; a and c have the same stride.
func (e *openBLAS) update(team *Team, n, k int, a []float64, lda int, w []float64, ldw int, c []float64) {
	tiles := e.upperTiles(n)
	team.Share(len(tiles), func(i int) {
		t := tiles[i]
		c := c[t.top*lda+t.left:]
		if t.top == t.left {
			e.syr2k(t.height, k, a[t.top:], lda, w[t.top:], ldw, c, lda)
			return
		}
		e.gemm(true, false, t.height, t.width, k, -1, a[t.top:], lda, w[t.left:], ldw, 1, c, lda)
		e.gemm(true, false, t.height, t.width, k, -1, w[t.top:], ldw, a[t.left:], lda, 1, c, lda)
	})
}

// back implements reducer, by dormtr, which does every row of q by itself.
func (e *openBLAS) back(n int, a, tau, q []float64, work *Scratch) {
	if !large(n, n, n) {
		work.Float = grow(work.Float, lapackWork(n))
		e.alone(func() { e.ormtr(n, n, a, tau, q, work.Float) })
		return
	}
	count, bound := e.pieces(n)
	each := lapackWork(bound(1) + 16)
	work.Float = grow(work.Float, count*each)
	e.share(count, func(i int) {
		from, to := bound(i), bound(i+1)
		e.ormtr(n, to-from, a, tau, q[from*n:], work.Float[i*each:(i+1)*each])
	})
}
