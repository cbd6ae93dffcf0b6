//go:build cuda && cgo

package library

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// bench is a handle on the emulated driver, and a way to and from its memory.
type bench struct {
	*Handle
	*emulator.Control
	t      *testing.T
	d      *driver.Device
	blocks []driver.Pointer
}

const kernels = "../driver/testdata/kernels.cu"

func emulated(t *testing.T) (*Libraries, *emulator.Control) {
	t.Helper()
	folder := emulator.Build(t, emulator.Kernels(kernels))
	os.Setenv(driver.PathVariable, folder)
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return l, emulator.Open(t, folder)
}

// on runs f on the device's thread, with a handle.
func on(t *testing.T, f func(b *bench)) {
	t.Helper()
	_, control := emulated(t)
	control.CheckNothingLeft(t)
	spoilt(t, f)
}

// spoilt is on for what leaves complaints of the emulated driver behind.
func spoilt(t *testing.T, f func(b *bench)) {
	t.Helper()
	l, control := emulated(t)
	d, err := driver.Use(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Do(func() error {
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		h, err := l.NewHandle(d, s)
		if err != nil {
			return err
		}
		b := &bench{h, control, t, d, nil}
		f(b)
		for _, p := range b.blocks {
			err = errors.Join(err, d.Free(p))
		}
		return errors.Join(err, h.Close(), h.Close(), s.Close())
	})
	if err != nil && d.Lost() == nil {
		t.Error(err)
	}
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Error(err)
	}
}

// room is memory for n values, which are NaN.
func (b *bench) room(n int) driver.Pointer {
	b.t.Helper()
	p, err := b.d.Alloc(int64(8 * max(n, 1)))
	b.ok(err)
	b.blocks = append(b.blocks, p)
	return p
}

func (b *bench) up(values []float64) driver.Pointer {
	b.t.Helper()
	p := b.room(len(values))
	b.ok(b.stream.Upload(p, values))
	return p
}

func (b *bench) down(p driver.Pointer, n int) []float64 {
	b.t.Helper()
	values := make([]float64, n)
	b.ok(b.stream.Download(values, p))
	b.ok(b.stream.Synchronize())
	return values
}

// info reads the int32 at p.
func (b *bench) info(p driver.Pointer) int {
	return int(driver.Int32s(b.down(p, 1))[0])
}

func (b *bench) same(what string, got, want []float64) {
	b.t.Helper()
	if len(got) != len(want) {
		b.t.Fatalf("%s: %d values, not %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-11*max(1, math.Abs(want[i]))) {
			b.t.Fatalf("%s: value %d is %g, not %g", what, i, got[i], want[i])
		}
	}
}

func random(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = r.NormFloat64()
	}
	return values
}

// matrix is column-major, with room between the columns.
type matrix struct {
	data       []float64
	rows, lead int
}

func at(m matrix, trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return m.data[j*m.lead+i]
}

// product is alpha·op(A)·op(B) + beta·C, by the definition.
func product(transA, transB bool, m, n, k int, alpha float64, a, b matrix, beta float64, c matrix) []float64 {
	out := append([]float64(nil), c.data...)
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				sum += at(a, transA, i, l) * at(b, transB, l, j)
			}
			out[j*c.lead+i] = alpha*sum + beta*c.data[j*c.lead+i]
		}
	}
	return out
}

func pick(trans bool, a, b int) int {
	if trans {
		return b
	}
	return a
}

// Calls of the libraries and of the driver on one stream keep their order.
func TestOrder(t *testing.T) {
	for seed := range 10 {
		on(t, func(b *bench) {
			b.Set(t, "EMULATOR_DEFERRED", strconv.Itoa(seed+1))
			x := random(uint64(seed), 16)
			p, q, total := b.up(x), b.room(16), b.room(1)
			b.ok(b.stream.Copy(q, p, 128))
			b.ok(b.Scal(16, 2, q, 1))
			b.ok(b.Axpy(16, 1, p, 1, q, 1))
			b.ok(b.Gemv(false, 1, 16, 1, p, 1, q, 1, 0, total, 1))
			b.ok(b.Scal(16, 0, p, 1))
			sum := 0.0
			for _, v := range x {
				sum += 3 * v * v
			}
			b.same("sum", b.down(total, 1), []float64{sum})
		})
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	on(t, func(b *bench) {
		p, q := b.up(random(1, 16)), b.room(16)
		if n := testing.AllocsPerRun(100, func() {
			if err := b.Gemm(false, true, 4, 4, 4, 1.5, p, 4, p, 4, 0.5, q, 4); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Dot(16, p, 1, p, 1); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%g allocations", n)
		}
	})
}

func TestOpenLibraries(t *testing.T) {
	l, _ := emulated(t)
	folder := os.Getenv(driver.PathVariable)
	for _, x := range []Library{l.BLAS, l.Solver} {
		if strings.Count(x.Version, ".") != 2 || filepath.Dir(x.File) != folder {
			t.Errorf("%+v, not of %s", x, folder)
		}
	}
	if l.BLAS.String() != "cuBLAS "+l.BLAS.Version || l.Solver.Name != "cuSOLVER" {
		t.Error(l.BLAS, l.Solver)
	}
}
