//go:build linux && (amd64 || arm64)

package emulator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const real64 = 1

func (d *device) cusolver() uintptr {
	d.t.Helper()
	var h uintptr
	d.must("cusolverDnCreate", out(&h))
	d.t.Cleanup(func() { d.call("cusolverDnDestroy", h) })
	return h
}

func (d *device) info(p uintptr, n int) []int32 {
	d.t.Helper()
	v := make([]int32, n)
	d.must("cuMemcpyDtoH_v2", at(v), p, uintptr(4*n))
	return v
}

// definite draws a symmetric positive definite matrix.
func definite(r *rand.Rand, n int) []float64 {
	b := random(r, n, n, n)
	a := product(0, 1, n, n, n, 1, b, n, b, n, 0, make([]float64, n*n), n)
	for i := range n {
		a[i*n+i]++
	}
	return a
}

func identity(n int) []float64 {
	e := make([]float64, n*n)
	for i := range n {
		e[i*n+i] = 1
	}
	return e
}

func TestCholesky(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	h, r := d.cusolver(), rand.New(rand.NewPCG(5, 6))
	const n = 7
	a := definite(r, n)
	x, info := d.put(a...), d.alloc(1)
	var potrf, potri int32
	d.must("cusolverDnDpotrf_bufferSize", h, 0, n, x, n, out(&potrf))
	d.must("cusolverDnDpotri_bufferSize", h, 0, n, x, n, out(&potri))
	work := d.alloc(int(max(potrf, potri)))
	d.must("cuMemsetD8_v2", work, 0, uintptr(8*potrf))
	d.must("cusolverDnDpotrf", h, 0, n, x, n, work, uintptr(potrf), info)
	factor := d.get(x, n*n)
	for _, v := range d.get(work, int(potrf)) {
		if !math.IsNaN(v) {
			t.Fatal("the workspace was left as it was")
		}
	}
	l := slices.Clone(factor)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if factor[i+n*j] != a[i+n*j] {
				t.Fatal("the other triangle was written")
			}
			l[i+n*j] = 0
		}
	}
	near(t, "L·Lᵀ", product(0, 1, n, n, n, 1, l, n, l, n, 0, make([]float64, n*n), n), a)

	b := d.put(a[:2*n]...)
	d.must("cusolverDnDpotrs", h, 0, n, 2, x, n, b, n, info)
	near(t, "solution", d.get(b, 2*n), identity(n)[:2*n])

	d.must("cusolverDnDpotri", h, 0, n, x, n, work, uintptr(potri), info)
	inverse := d.get(x, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			inverse[i+n*j] = inverse[j+n*i]
		}
	}
	near(t, "inverse", product(0, 0, n, n, n, 1, a, n, inverse, n, 0, make([]float64, n*n), n), identity(n))
	if got := d.info(info, 1); got[0] != 0 {
		t.Errorf("info %v", got)
	}

	bad := identity(n)
	bad[2*n+2] = -1
	d.must("cusolverDnDpotrf", h, 0, n, d.put(bad...), n, work, uintptr(potrf), info)
	if got := d.info(info, 1); got[0] != 3 {
		t.Errorf("info %v, want 3", got)
	}
}

func TestXsyevd(t *testing.T) {
	d := open(t)
	h, r := d.cusolver(), rand.New(rand.NewPCG(9, 10))
	var params uintptr
	d.must("cusolverDnCreateParams", out(&params))
	defer d.call("cusolverDnDestroyParams", params)
	const n = 9
	a := definite(r, n)
	x, w, info := d.put(a...), d.alloc(n), d.alloc(1)
	var device, host uintptr
	d.must("cusolverDnXsyevd_bufferSize", h, params, 1, 0, n, real64, x, n, real64, w, real64, out(&device), out(&host))
	work, buffer := d.alloc(int(device+7)/8), make([]byte, host)
	d.must("cuMemsetD8_v2", work, 0, device)
	arguments := []uintptr{h, params, 1, 0, n, real64, x, n, real64, w, real64, work, device, at(buffer), host, info}
	d.must("cusolverDnXsyevd", arguments...)
	if !math.IsNaN(d.get(work, 1)[0]) || buffer[host-1] != 0xff {
		t.Error("a workspace was left as it was")
	}
	v, values := d.get(x, n*n), d.get(w, n)
	if !slices.IsSorted(values) || d.info(info, 1)[0] != 0 {
		t.Errorf("values %v, info %v", values, d.info(info, 1))
	}
	scaled := slices.Clone(v)
	for i := range scaled {
		scaled[i] *= values[i/n]
	}
	near(t, "V·diag·Vᵀ", product(0, 1, n, n, n, 1, scaled, n, v, n, 0, make([]float64, n*n), n), a)

	for i, bad := range map[int]uintptr{1: 0, 2: 2, 3: 2, 4: neg(-1), 5: 0, 7: n - 1, 12: device - 1, 14: host - 1, 13: work} {
		wrong := slices.Clone(arguments)
		wrong[i] = bad
		if got := d.call("cusolverDnXsyevd", wrong...); got != 3 {
			t.Errorf("argument %d as %d: %d, want 3", i, bad, got)
		}
	}
	complaints := d.Count("complaints")
	// Without vectors the matrix is lost.
	d.must("cuMemcpyHtoD_v2", x, at(a), 8*n*n)
	arguments[2] = 0
	d.must("cusolverDnXsyevd", arguments...)
	near(t, "values alone", d.get(w, n), values)
	if got := d.get(x, n*n); !math.IsNaN(got[0]) || !math.IsNaN(got[n*n-1]) {
		t.Error("the matrix survived")
	}
	// It is NaN now: so are the values.
	d.must("cusolverDnXsyevd", arguments...)
	if got := d.get(w, n); !math.IsNaN(got[0]) {
		t.Errorf("values %v of a matrix of NaN", got)
	}
	if d.Count("complaints") != complaints {
		t.Errorf("the driver complains: %s", d.Complaint())
	}
}

func TestXsyevBatch(t *testing.T) {
	d := open(t)
	h, r := d.cusolver(), rand.New(rand.NewPCG(11, 12))
	var params uintptr
	d.must("cusolverDnCreateParams", out(&params))
	defer d.call("cusolverDnDestroyParams", params)
	const n, count = 5, 3
	var a []float64
	for range count {
		a = append(a, definite(r, n)...)
	}
	x, w, info := d.put(a...), d.alloc(n*count), d.alloc(count)
	var device, host uintptr
	d.must("cusolverDnXsyevBatched_bufferSize", h, params, 1, 1, n, real64, x, n, real64, w, real64, out(&device), out(&host), count)
	work, buffer := d.alloc(int(device+7)/8), make([]byte, host)
	arguments := []uintptr{h, params, 1, 1, n, real64, x, n, real64, w, real64, work, device, at(buffer), host, info, count}
	d.must("cusolverDnXsyevBatched", arguments...)
	vectors, values := d.get(x, len(a)), d.get(w, n*count)
	for k := range count {
		v, w := vectors[k*n*n:][:n*n], values[k*n:][:n]
		if !slices.IsSorted(w) {
			t.Errorf("values %v", w)
		}
		scaled := slices.Clone(v)
		for i := range scaled {
			scaled[i] *= w[i/n]
		}
		near(t, "V·diag·Vᵀ", product(0, 1, n, n, n, 1, scaled, n, v, n, 0, make([]float64, n*n), n), a[k*n*n:][:n*n])
	}
	if got := d.info(info, count); !slices.Equal(got, []int32{0, 0, 0}) {
		t.Errorf("info %v", got)
	}
	for i, bad := range map[int]uintptr{1: 0, 4: neg(-1), 7: n - 1, 12: device - 1, 14: host - 1, 16: neg(-1)} {
		wrong := slices.Clone(arguments)
		wrong[i] = bad
		if got := d.call("cusolverDnXsyevBatched", wrong...); got != 3 {
			t.Errorf("argument %d as %d: %d, want 3", i, bad, got)
		}
	}
}

func TestCusolverArguments(t *testing.T) {
	d := open(t)
	h := d.cusolver()
	a, info := d.put(identity(4)...), d.alloc(1)
	var doubles int32
	d.must("cusolverDnDpotrf_bufferSize", h, 0, 4, a, 4, out(&doubles))
	work, size := d.alloc(int(doubles)), uintptr(doubles)
	for _, c := range []struct {
		name      string
		arguments []uintptr
	}{
		{"cusolverDnDpotrf", []uintptr{h, 2, 4, a, 4, work, size, info}},
		{"cusolverDnDpotrf", []uintptr{h, 0, neg(-4), a, 4, work, size, info}},
		{"cusolverDnDpotrf", []uintptr{h, 0, 4, a, 3, work, size, info}},
		{"cusolverDnDpotrf", []uintptr{h, 0, 4, a, 4, work, size - 1, info}},
		{"cusolverDnDpotri", []uintptr{h, 0, 4, a, 4, work, size, info}}, // it wants more
		{"cusolverDnDpotrs", []uintptr{h, 0, 4, 1, a, 4, work, 3, info}},
		{"cusolverDnDpotrf_bufferSize", []uintptr{h, 0, 4, a, 4, 0}},
		{"cusolverDnSetStream", []uintptr{h, 99}},
		{"cusolverDnDestroyParams", []uintptr{h}},
	} {
		if got := d.call(c.name, c.arguments...); got != 3 {
			t.Errorf("%s: %d, want 3", c.name, got)
		}
	}
	d.want(1, "cusolverDnDpotrf", h+16, 0, 4, a, 4, work, size, info)
	// Memory that is too short is found on the device.
	d.want(6, "cusolverDnDpotrf", h, 0, 4, a, 4, work+8, size, info)
	d.want(700, "cuCtxSynchronize")
}
