//go:build cuda && cgo

package library

import (
	"testing"
)

// eigenpairs checks A·V = V·diag(values), V orthogonal, values ascending.
func (b *bench) eigenpairs(a matrix, n int, vectors, values []float64) {
	b.t.Helper()
	v, zero := matrix{vectors, n, n}, matrix{make([]float64, n*n), n, n}
	right := append([]float64(nil), vectors...)
	for j := range n {
		for i := range n {
			right[j*n+i] *= values[j]
		}
		if j > 0 && values[j] < values[j-1] {
			b.t.Errorf("values %v", values)
		}
	}
	b.same("A·V", product(false, false, n, n, n, 1, a, v, 0, zero), right)
	gram := product(true, false, n, n, n, 1, v, v, 0, zero)
	for i := range n {
		gram[i*n+i]--
	}
	b.same("VᵀV − I", gram, make([]float64, n*n))
}

func TestSyevd(t *testing.T) {
	const n = 7
	on(t, func(b *bench) {
		for _, triangle := range []Triangle{Lower, Upper} {
			whole, stored := symmetric(9, n, triangle)
			p, values, info := b.up(stored.data), b.room(n), b.room(1)
			device, host, err := b.SyevdSize(true, triangle, n, p, n, values)
			b.ok(err)
			b.ok(b.Syevd(true, triangle, n, p, n, values, b.room(int(device+7)/8), device, make([]byte, host), info))
			if i := b.info(info); i != 0 {
				t.Fatalf("info %d", i)
			}
			with := b.down(values, n)
			b.eigenpairs(whole, n, b.down(p, n*n), with)

			p = b.up(stored.data)
			device, host, err = b.SyevdSize(false, triangle, n, p, n, values)
			b.ok(err)
			b.ok(b.Syevd(false, triangle, n, p, n, values, b.room(int(device+7)/8), device, make([]byte, host), info))
			b.same("values alone", b.down(values, n), with)
		}
	})
}

func TestSyevBatched(t *testing.T) {
	const n, count = 6, 4
	on(t, func(b *bench) {
		if !b.HasSyevBatched() {
			t.Fatal("the emulated library is of CUDA 12.9")
		}
		var all []float64
		var wholes []matrix
		for i := range count {
			whole, stored := symmetric(uint64(i), n, Upper)
			all, wholes = append(all, stored.data...), append(wholes, whole)
		}
		p, values, infos := b.up(all), b.room(n*count), b.room(count)
		device, host, err := b.SyevBatchedSize(true, Upper, n, p, n, values, count)
		b.ok(err)
		b.ok(b.SyevBatched(true, Upper, n, p, n, values, b.room(int(device+7)/8), device, make([]byte, host), infos, count))
		vectors, found := b.down(p, n*n*count), b.down(values, n*count)
		for i := range count {
			b.eigenpairs(wholes[i], n, vectors[i*n*n:][:n*n], found[i*n:][:n])
		}
	})
}
