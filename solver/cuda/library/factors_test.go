//go:build cuda && cgo

package library

import "testing"

// definite is a positive definite matrix of order n.
func definite(seed uint64, n int) matrix {
	a := matrix{random(seed, n*n), n, n}
	identity := matrix{make([]float64, n*n), n, n}
	for i := range n {
		identity.data[i*n+i] = 1
	}
	return matrix{product(false, true, n, n, n, 1, a, a, 1, identity), n, n}
}

func TestCholesky(t *testing.T) {
	const n = 6
	on(t, func(b *bench) {
		for _, triangle := range []Triangle{Lower, Upper} {
			a := definite(1, n)
			p, info := b.up(a.data), b.room(1)
			length, err := b.PotrfSize(triangle, n, p, n)
			b.ok(err)
			b.ok(b.Potrf(triangle, n, p, n, b.room(length), length, info))
			if i := b.info(info); i != 0 {
				t.Fatalf("info %d", i)
			}
			length, err = b.PotriSize(triangle, n, p, n)
			b.ok(err)
			b.ok(b.Potri(triangle, n, p, n, b.room(length), length, info))
			inverse := matrix{b.down(p, n*n), n, n}
			for j := range n {
				for i := range n {
					if (triangle == Lower && i < j) || (triangle == Upper && i > j) {
						inverse.data[j*n+i] = inverse.data[i*n+j]
					}
				}
			}
			identity := product(false, false, n, n, n, 1, a, inverse, 0, matrix{make([]float64, n*n), n, n})
			for i := range n {
				identity[i*n+i]--
			}
			b.same("A·A⁻¹ − I", identity, make([]float64, n*n))
		}
		a := definite(1, n)
		a.data[3*n+3] = -1
		p, info := b.up(a.data), b.room(1)
		length, err := b.PotrfSize(Lower, n, p, n)
		b.ok(err)
		b.ok(b.Potrf(Lower, n, p, n, b.room(length), length, info))
		if i := b.info(info); i != 4 {
			t.Errorf("info %d of a matrix whose fourth pivot is negative", i)
		}
	})
}

// A handle of cuSOLVER alone factorizes, on a stream of its own.
func TestSolverHandle(t *testing.T) {
	const n = 6
	on(t, func(b *bench) {
		other, err := b.d.NewStream()
		b.ok(err)
		h, err := b.NewSolverHandle(b.d, other)
		b.ok(err)
		a := definite(3, n)
		p, info := b.up(a.data), b.room(1)
		length, err := h.PotrfSize(Lower, n, p, n)
		b.ok(err)
		b.ok(b.stream.Synchronize())
		b.ok(h.Potrf(Lower, n, p, n, b.room(length), length, info))
		b.ok(other.Synchronize())
		if i := b.info(info); i != 0 {
			t.Fatalf("info %d", i)
		}
		l := matrix{b.down(p, n*n), n, n}
		for j := range n {
			clear(l.data[j*n : j*n+j])
		}
		b.same("L·Lᵀ", product(false, true, n, n, n, 1, l, l, 0, matrix{make([]float64, n*n), n, n}), a.data)
		b.ok(h.Close())
		b.ok(other.Close())
	})
}
