//go:build (linux || darwin) && (amd64 || arm64)

package dense

// conjugate implements conjugator. With P = I − VTVᵀ for a block of reflections, X = F·V and
// W = XTᵀ − ½V·(T·VᵀXTᵀ), the matrix P·F·Pᵀ is F − VWᵀ − WVᵀ. V, X and W have their columns in
// rows here.
func (e *openBLAS) conjugate(n int, a, tau, f []float64, work *Scratch) {
	const most = reflectionsWidth
	for i := range work.panels {
		work.panels[i] = grow(work.panels[i], most*n)
	}
	for i := range work.small {
		work.small[i] = grow(work.small[i], most*most)
	}
	team := NewTeam(e, e.Threads())
	defer team.Close()
	c := conjugation{e: e, team: team, n: n, f: f, v: work.panels[0], x: work.panels[1], w: work.panels[2]}
	t, products, sum := work.small[0], work.small[1], work.small[2]
	for first := (n - 2) / most * most; first >= 0 && first < n-1; first -= most {
		k := min(most, n-1-first)
		c.k, c.out = k, first+1
		m := n - c.out
		gatherReflections(n, a, tau, first, k, c.v)
		e.alone(func() { e.syrk(false, k, m, 1, c.v, m, 0, t, k) })
		inverseFactor(k, tau[first:], t)
		c.multiply()
		e.alone(func() {
			e.trtri(k, t, k)
			e.gemm(false, false, k, n, k, 1, t, k, c.x, n, 0, c.w, n)
			e.gemm(false, true, k, k, m, 1, c.v, m, c.w[c.out:], n, 0, products, k)
			e.gemm(false, false, k, k, k, 1, t, k, products, k, 0, sum, k)
			e.gemm(false, false, k, m, k, -.5, sum, k, c.v, m, 1, c.w[c.out:], n)
		})
		c.update()
	}
}

// A conjugation is one block of conjugate: k reflections of the last n − out rows.
type conjugation struct {
	e          *openBLAS
	team       *Team
	n, k, out  int
	f, v, x, w []float64
}

// multiply sets x (k×n) to V·F.
func (c *conjugation) multiply() {
	e, n, k, m := c.e, c.n, c.k, c.n-c.out
	inside := c.f[c.out*n+c.out:]
	if n < parallelConjugation || e.Threads() == 1 {
		e.alone(func() {
			if c.out > 0 {
				e.gemm(false, true, k, c.out, m, 1, c.v, m, c.f[c.out:], n, 0, c.x, n)
			}
			e.symm(true, k, m, 1, inside, n, c.v, m, 0, c.x[c.out:], n)
		})
		return
	}
	left, leftBound := e.pieces(c.out)
	right, rightBound := e.pieces(m)
	c.team.Share(left+right, func(i int) {
		if i < left {
			from, to := leftBound(i), leftBound(i+1)
			if to > from {
				e.gemm(false, true, k, to-from, m, 1, c.v, m, c.f[from*n+c.out:], n, 0, c.x[from:], n)
			}
			return
		}
		from, to := rightBound(i-left), rightBound(i-left+1)
		if to == from {
			return
		}
		x := c.x[c.out+from:]
		e.symm(true, k, to-from, 1, inside[from*n+from:], n, c.v[from:], m, 0, x, n)
		if from > 0 {
			e.gemm(false, false, k, to-from, from, 1, c.v, m, inside[from:], n, 1, x, n)
		}
		if to < m {
			e.gemm(false, true, k, to-from, m-to, 1, c.v[to:], m, inside[from*n+to:], n, 1, x, n)
		}
	})
}

// update subtracts VᵀW and WᵀV from f, whose upper triangle counts.
func (c *conjugation) update() {
	e, n, k, m := c.e, c.n, c.k, c.n-c.out
	inside, w := c.f[c.out*n+c.out:], c.w[c.out:]
	if n < parallelConjugation || e.Threads() == 1 {
		e.alone(func() {
			if c.out > 0 {
				e.gemm(true, false, c.out, m, k, -1, c.w, n, c.v, m, 1, c.f[c.out:], n)
			}
			e.syr2k(m, k, c.v, m, w, n, inside, n)
		})
		return
	}
	above, bound := e.pieces(c.out)
	tiles := e.upperTiles(m)
	c.team.Share(above+len(tiles), func(i int) {
		if i < above {
			from, to := bound(i), bound(i+1)
			if to > from {
				e.gemm(true, false, to-from, m, k, -1, c.w[from:], n, c.v, m, 1, c.f[from*n+c.out:], n)
			}
			return
		}
		t := tiles[i-above]
		to := inside[t.top*n+t.left:]
		if t.top == t.left {
			e.syr2k(t.height, k, c.v[t.top:], m, w[t.top:], n, to, n)
			return
		}
		e.gemm(true, false, t.height, t.width, k, -1, c.v[t.top:], m, w[t.left:], n, 1, to, n)
		e.gemm(true, false, t.height, t.width, k, -1, w[t.top:], n, c.v[t.left:], m, 1, to, n)
	})
}
