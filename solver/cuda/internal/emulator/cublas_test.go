//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func (d *device) cublas() uintptr {
	d.t.Helper()
	var h uintptr
	d.must("cublasCreate_v2", out(&h))
	d.t.Cleanup(func() { d.call("cublasDestroy_v2", h) })
	return h
}

func num(v float64) uintptr { return out(&v) }

func neg(n int) uintptr { return uintptr(n) }

// random draws a matrix of columns, whose padding below the rows is NaN: nobody may read it.
func random(r *rand.Rand, rows, columns, ld int) []float64 {
	a := make([]float64, ld*(columns-1)+rows)
	for i := range a {
		if a[i] = r.NormFloat64(); i%ld >= rows {
			a[i] = math.NaN()
		}
	}
	return a
}

// element is op(A)[i][j].
func element(a []float64, ld, trans, i, j int) float64 {
	if trans != 0 {
		i, j = j, i
	}
	return a[i+j*ld]
}

func product(ta, tb, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) []float64 {
	want := append([]float64(nil), c...)
	for i := range m {
		for j := range n {
			s := 0.0
			for l := range k {
				s += element(a, lda, ta, i, l) * element(b, ldb, tb, l, j)
			}
			want[i+j*ldc] = alpha * s
			if beta != 0 {
				want[i+j*ldc] += beta * c[i+j*ldc]
			}
		}
	}
	return want
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.IsNaN(want[i]) != math.IsNaN(got[i]) || math.Abs(got[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Fatalf("%s: entry %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestGemm(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	h, r := d.cublas(), rand.New(rand.NewPCG(1, 2))
	const m, n, k = 5, 4, 3
	for _, trans := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 2}} {
		for _, beta := range []float64{0, 1, -.5} {
			rowsA, columnsA, rowsB, columnsB, lda, ldb := m, k, k, n, 7, 6
			if trans[0] != 0 {
				rowsA, columnsA = k, m
			}
			if trans[1] != 0 {
				rowsB, columnsB = n, k
			}
			a, b, c := random(r, rowsA, columnsA, 7), random(r, rowsB, columnsB, 6), random(r, m, n, 8)
			if beta == 1 { // as tight as may be
				lda, ldb = rowsA, rowsB
				a, b = random(r, rowsA, columnsA, lda), random(r, rowsB, columnsB, ldb)
			}
			if beta == 0 {
				c[0] = math.NaN()
			}
			want := product(trans[0], trans[1], m, n, k, 1.5, a, lda, b, ldb, beta, c, 8)
			x := d.put(c...)
			d.must("cublasDgemm_v2", h, uintptr(trans[0]), uintptr(trans[1]), m, n, k, num(1.5), d.put(a...), uintptr(lda), d.put(b...), uintptr(ldb), num(beta), x, 8)
			near(t, fmt.Sprint("gemm ", trans, beta), d.get(x, len(c)), want)
		}
	}
	const count, strideA, strideC = 3, 40, 41
	a, b, c := random(r, m, k, 7), random(r, k, n, 6), random(r, m, n, 8)
	batchA, batchC := make([]float64, (count-1)*strideA+len(a)), make([]float64, (count-1)*strideC+len(c))
	for i := range count {
		copy(batchA[i*strideA:], random(r, m, k, 7))
		copy(batchC[i*strideC:], random(r, m, n, 8))
	}
	x := d.put(batchC...)
	d.must("cublasDgemmStridedBatched", h, 0, 0, m, n, k, num(1), d.put(batchA...), 7, strideA, d.put(b...), 6, 0, num(2), x, 8, strideC, count)
	got := d.get(x, len(batchC))
	for i := range count {
		near(t, "batch", got[i*strideC:][:len(c)], product(0, 0, m, n, k, 1, batchA[i*strideA:], 7, b, 6, 2, batchC[i*strideC:][:len(c)], 8))
	}
}

func TestSymmetricProduct(t *testing.T) {
	d := open(t)
	h, r := d.cublas(), rand.New(rand.NewPCG(3, 4))
	const n, k = 6, 4
	for uplo := range 2 {
		upper := func(i, j int) bool { return uplo == 1 && i <= j || uplo == 0 && i >= j }
		a, c := random(r, n, k, 7), random(r, n, n, 8)
		want := product(0, 1, n, n, k, 2, a, 7, a, 7, 3, c, 8)
		x := d.put(c...)
		d.must("cublasDsyrk_v2", h, uintptr(uplo), 0, n, k, num(2), d.put(a...), 7, num(3), x, 8)
		got := d.get(x, len(c))
		for i := range n {
			for j := range n {
				if !upper(i, j) {
					want[i+8*j] = c[i+8*j]
				}
			}
		}
		near(t, "syrk", got, want)
	}
}

func TestVectors(t *testing.T) {
	d := open(t)
	h := d.cublas()
	x, y := d.put(1, 9, 2, 9, 3), d.put(4, 5, 6)
	var r float64
	d.must("cublasDdot_v2", h, 3, x, 2, y, 1, out(&r))
	near(t, "dot", []float64{r}, []float64{32})
	d.must("cublasDnrm2_v2", h, 3, y, 1, out(&r))
	near(t, "nrm2", []float64{r}, []float64{math.Sqrt(77)})
	d.must("cublasDaxpy_v2", h, 3, num(10), x, 2, y, 1)
	near(t, "axpy", d.get(y, 3), []float64{14, 25, 36})
	d.must("cublasDscal_v2", h, 3, num(.5), x, 2)
	near(t, "scal", d.get(x, 5), []float64{.5, 9, 1, 9, 1.5})
	a := d.put(1, 2, 3, 4, 5, 6) // 2 x 3
	z := d.alloc(3)              // NaN: not read with beta 0
	d.must("cublasDgemv_v2", h, 1, 2, 3, num(1), a, 2, d.put(1, 10), 1, num(0), z, 1)
	near(t, "gemv", d.get(z, 3), []float64{21, 43, 65})

	d.must("cublasSetPointerMode_v2", h, 1)
	two, result := d.put(2), d.alloc(1)
	d.must("cublasDscal_v2", h, 3, two, y, 1)
	d.must("cublasDdot_v2", h, 3, y, 1, y, 1, result)
	near(t, "device results", d.get(result, 1), []float64{4 * (14*14 + 25*25 + 36*36)})
}

// Statuses that the library returns at once.
func TestCublasArguments(t *testing.T) {
	d := open(t)
	h, a := d.cublas(), d.put(ramp(64)...)
	b, c := d.put(ramp(64)...), d.alloc(64)
	one := num(1)
	for _, x := range []struct {
		name      string
		arguments []uintptr
	}{
		{"cublasDgemm_v2", []uintptr{h, 3, 0, 4, 4, 4, one, a, 4, b, 4, one, c, 4}},
		{"cublasDgemm_v2", []uintptr{h, 0, 0, neg(-1), 4, 4, one, a, 4, b, 4, one, c, 4}},
		{"cublasDgemm_v2", []uintptr{h, 0, 0, 4, 4, 4, one, a, 3, b, 4, one, c, 4}},
		{"cublasDgemm_v2", []uintptr{h, 0, 1, 4, 5, 3, one, a, 4, b, 4, one, c, 4}},
		{"cublasDgemm_v2", []uintptr{h, 0, 0, 4, 4, 4, one, a, 4, b, 4, one, c, 3}},
		{"cublasDgemm_v2", []uintptr{h, 0, 0, 4, 4, 4, 0, a, 4, b, 4, one, c, 4}},
		{"cublasDgemm_v2", []uintptr{h, 0, 0, 4, 4, 4, a, a, 4, b, 4, one, c, 4}},
		{"cublasDgemmStridedBatched", []uintptr{h, 0, 0, 2, 2, 2, one, a, 2, 4, b, 2, 4, one, c, 2, 3, 2}},
		{"cublasDgemmStridedBatched", []uintptr{h, 0, 0, 2, 2, 2, one, a, 2, 4, b, 2, 4, one, c, 2, 4, neg(-2)}},
		{"cublasDsyrk_v2", []uintptr{h, 2, 0, 4, 4, one, a, 4, one, c, 4}},
		{"cublasDsyrk_v2", []uintptr{h, 0, 1, 4, 5, one, a, 4, one, c, 4}},
		{"cublasDgemv_v2", []uintptr{h, 0, 4, 4, one, a, 4, b, 0, one, c, 1}},
		{"cublasDdot_v2", []uintptr{h, 4, a, 1, b, 1, c}},
		{"cublasSetStream_v2", []uintptr{h, 99}},
		{"cublasSetPointerMode_v2", []uintptr{h, 2}},
	} {
		if got := d.call(x.name, x.arguments...); got != 7 {
			t.Errorf("%s: %d, want 7 (%s)", x.name, got, d.Complaint())
		}
	}
	d.want(1, "cublasDscal_v2", h+16, 1, one, a, 1)
	d.must("cuCtxSynchronize")
}

// What the library finds out on the device only: the context is spoilt.
func TestCublasExtents(t *testing.T) {
	one := num(1)
	for _, x := range []struct {
		complaint string
		name      string
		arguments func(a, b, c uintptr) []uintptr
	}{
		{"A, 136 bytes", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 0, 2, 4, 4, one, a, 5, b, 4, one, c, 2} }},
		{"B, 128 bytes", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 0, 4, 4, 4, one, a, 4, b + 8, 4, one, c, 4} }},
		{"C, 152 bytes", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 0, 4, 4, 4, one, a, 4, b, 4, one, c, 5} }},
		{"A, 136 bytes", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{1, 0, 4, 2, 2, one, a, 5, b, 4, one, c, 4} }},
		{"C is written and overlaps A", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 0, 4, 4, 4, one, a, 4, b, 4, one, a, 4} }},
		{"C is written and overlaps B", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 0, 3, 3, 3, one, a, 4, b, 4, one, b + 16, 4} }},
		{"A, 136 bytes", "cublasDgemmStridedBatched", func(a, b, c uintptr) []uintptr {
			return []uintptr{0, 0, 2, 2, 2, one, a, 2, 13, b, 2, 4, one, c, 2, 4, 2}
		}},
		{"x, 136 bytes", "cublasDscal_v2", func(a, b, c uintptr) []uintptr { return []uintptr{9, one, a, 2} }},
		{"y, 136 bytes", "cublasDgemv_v2", func(a, b, c uintptr) []uintptr { return []uintptr{0, 5, 2, one, a, 5, b, 1, one, c, 4} }},
		{"A, 128 bytes", "cublasDgemm_v2", func(a, b, c uintptr) []uintptr {
			return []uintptr{0, 0, 4, 4, 4, one, out(new([16]float64)), 4, b, 4, one, c, 4}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			d := open(t)
			a, b, c := d.put(ramp(16)...), d.put(ramp(16)...), d.put(ramp(16)...)
			h := d.cublas()
			d.want(13, x.name, append([]uintptr{h}, x.arguments(a, b, c)...)...)
			if !strings.Contains(d.Complaint(), x.complaint) {
				t.Errorf("the driver says %q, want %q", d.Complaint(), x.complaint)
			}
			d.want(700, "cuCtxSynchronize")
			d.want(13, "cublasDscal_v2", h, 1, one, a, 1)
		})
	}
}

// Blocks of one matrix side by side do not overlap, and strips of a product may be written where others are read.
func TestCublasBlocks(t *testing.T) {
	d := open(t)
	h, a := d.cublas(), d.put(ramp(64)...)
	const ld, f = 8, 8 // bytes of a float64
	d.must("cublasDgemm_v2", h, 0, 0, 4, 4, 4, num(1), a, ld, a+4*ld*f, ld, num(0), a+4*f, ld)
	d.want(13, "cublasDgemm_v2", h, 0, 0, 4, 4, 4, num(1), a, ld, a+4*ld*f, ld, num(0), a+3*f, ld)
}

// Deferred, the mistake shows when something synchronises; what was handed over stays the caller's until then.
func TestCublasDeferred(t *testing.T) {
	d := open(t, "EMULATOR_DEFERRED", "1")
	h, s := d.cublas(), d.stream(1)
	d.must("cublasSetStream_v2", h, s)
	x, two := d.put(1, 2), 2.0
	d.must("cublasDscal_v2", h, 2, out(&two), x, 1)
	two = 100 // scalars on the host were read by the call
	var r float64
	d.must("cublasDdot_v2", h, 2, x, 1, x, 1, out(&r)) // waits
	near(t, "dot", []float64{r}, []float64{20})
	d.must("cublasDscal_v2", h, 3, num(2), x, 1)
	d.want(700, "cuStreamSynchronize", s)
}

func TestCublasVersion(t *testing.T) {
	d := open(t)
	var v int32
	d.must("cublasGetVersion_v2", d.cublas(), out(&v))
	if v != 120901 {
		t.Errorf("version %d", v)
	}
}
