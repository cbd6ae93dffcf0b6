//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/dense"
)

// Engine is a dense.Engine whose large kernels run on the device: matrices are copied
// there and back for each. Small ones are host's, whose number of threads it has; nil is
// dense.Default(). It is a dense.AccumulatingEngine too.
//
// An Engine cannot return errors: where the device fails, its methods panic with a
// *driver.Error.
func (b *Backend) Engine(host dense.Engine) dense.Engine {
	if host == nil {
		host = dense.Default()
	}
	return &engine{side: b.kernels, small: host}
}

// smallest is the number of multiplications from which a kernel is worth the way.
const smallest = 256 * 256 * 256

// An engine is a side of the device for one user.
type engine struct {
	*side
	small dense.Engine
}

// Threads is the number of threads of the host's engine, see dense.Threads.
func (e *engine) Threads() int { return dense.Threads(e.small) }

// A side is what all engines of a backend share. It has memory on the device while a
// kernel is at work; there is one at a time.
type side struct {
	backend *Backend

	mu     sync.Mutex
	stream *driver.Stream // from the first kernel on
	handle *library.Handle
	module *module
}

// open makes the stream and the handle, on the device's thread.
func (e *side) open() (err error) {
	if e.handle != nil {
		return nil
	}
	device := e.backend.device
	if e.stream == nil {
		if e.stream, err = device.NewStream(); err != nil {
			return err
		}
	}
	if e.module == nil {
		if e.module, err = e.backend.takeModule(); err != nil {
			return err
		}
	}
	e.handle, err = e.backend.libraries.NewHandle(device, e.stream)
	return err
}

// close gives them back, on the device's thread.
func (e *side) close() (err error) {
	if e.handle != nil {
		err = e.handle.Close()
	}
	if e.module != nil {
		err = errors.Join(err, e.module.Unload())
	}
	if e.stream != nil {
		err = errors.Join(err, e.stream.Close())
	}
	return err
}

// Name implements dense.Engine.
func (e *engine) Name() string { return e.backend.Name() }

// An operand is a matrix of a kernel: rows of numbers, stride apart.
type operand struct {
	data         []float64
	in, out      bool
	p            driver.Pointer
	rows, length int
	stride       int
}

// matrix is an operand of rows·length numbers.
func matrix(data []float64, rows, length, stride int, in, out bool) *operand {
	n := 0
	if rows > 0 && length > 0 {
		n = (rows-1)*stride + length
	}
	// What lies between rows comes back as it was.
	return &operand{data: data[:n], in: in || out && stride != length, out: out, rows: rows, length: length, stride: stride}
}

// A workspace takes memory on the device for one kernel.
type workspace = func(bytes int64) (driver.Pointer, error)

// run copies operands to the device, runs f there and copies back what is out.
func (e *side) run(f func(h *library.Handle, work workspace) error, operands ...*operand) {
	e.mu.Lock()
	defer e.mu.Unlock()
	device, budget := e.backend.device, e.backend.budget
	var bytes int64
	for _, o := range operands {
		bytes += 8 * int64(len(o.data))
	}
	if left, ok := budget.take(bytes); !ok {
		panic(&driver.Error{Op: "cuMemAlloc", Kind: driver.OutOfMemory, Message: fmt.Sprintf(
			"matrices of %.3g GB do not fit on %v, which has %.3g GB free for them; try again when other runs have ended, or run on the CPU", float64(bytes)/1e9, device, float64(max(left, 0))/1e9)})
	}
	defer budget.give(bytes)
	err := device.Do(func() (err error) {
		var given []driver.Pointer
		work := func(bytes int64) (driver.Pointer, error) {
			p, err := device.Alloc(bytes)
			if err == nil {
				given = append(given, p)
			}
			return p, err
		}
		defer func() {
			for _, p := range given {
				err = errors.Join(err, device.Free(p))
			}
		}()
		if err := e.open(); err != nil {
			return err
		}
		s := e.stream
		for _, o := range operands {
			if o.p, err = work(8 * int64(len(o.data))); err != nil {
				return err
			}
			if o.in {
				if err := s.Upload(o.p, o.data); err != nil {
					return err
				}
			}
		}
		if err := f(e.handle, work); err != nil {
			return err
		}
		for _, o := range operands {
			if o.out {
				if err := s.Download(o.data, o.p); err != nil {
					return err
				}
			}
		}
		return s.Synchronize()
	})
	if err != nil {
		panic(err)
	}
}

// Gemm implements dense.Engine.
func (e *engine) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m*n*k < smallest {
		e.small.Gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	rows := func(trans bool, rows, columns int) (int, int) {
		if trans {
			return columns, rows
		}
		return rows, columns
	}
	ra, ca := rows(transA, m, k)
	rb, cb := rows(transB, k, n)
	x, y, z := matrix(a, ra, ca, lda, true, false), matrix(b, rb, cb, ldb, true, false), matrix(c, m, n, ldc, beta != 0, true)
	// By columns, as the libraries see them, these are the transposes: Cᵀ = op(B)ᵀ·op(A)ᵀ.
	e.run(func(h *library.Handle, _ workspace) error {
		return h.Gemm(transB, transA, n, m, k, alpha, y.p, ldb, x.p, lda, beta, z.p, ldc)
	}, x, y, z)
}

// Symm implements dense.Engine.
func (e *engine) Symm(m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	e.Gemm(false, false, m, n, m, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Syrk implements dense.Engine.
func (e *engine) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n*n*k < smallest {
		e.small.Syrk(trans, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	rows, columns := n, k
	if trans {
		rows, columns = k, n
	}
	x, z := matrix(a, rows, columns, lda, true, false), matrix(c, n, n, ldc, true, true)
	// The upper triangle by rows is the lower one by columns.
	e.run(func(h *library.Handle, _ workspace) error {
		return h.Syrk(library.Lower, !trans, n, k, alpha, x.p, lda, beta, z.p, ldc)
	}, x, z)
}

// Eigen implements dense.Engine.
func (e *engine) Eigen(n int, a, values []float64, work *dense.Scratch) bool {
	if n*n*n < smallest {
		return e.small.Eigen(n, a, values, work)
	}
	for _, v := range a[:n*n] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	x, v := matrix(a, n, n, n, true, true), matrix(values, 1, n, n, false, true)
	return e.informed(func(h *library.Handle, work workspace, info driver.Pointer) error {
		return e.eigen(h, work, n, x.p, v.p, info)
	}, x, v)
}

// eigen queues an eigendecomposition.
func (e *side) eigen(h *library.Handle, work workspace, n int, a, values, info driver.Pointer) error {
	onDevice, onHost, err := h.SyevdSize(true, library.Lower, n, a, n, values)
	if err != nil {
		return err
	}
	w, err := work(onDevice)
	if err != nil {
		return err
	}
	err = h.Syevd(true, library.Lower, n, a, n, values, w, onDevice, make([]byte, onHost), info)
	return errors.Join(err, e.stream.Synchronize()) // which reads host memory
}

// HasLogDetProx implements dense.ProximalEngine.
func (e *engine) HasLogDetProx(n int) bool { return n*n*n >= smallest }

// LogDetProx implements dense.ProximalEngine: Y goes to the device, and Θ comes back.
func (e *engine) LogDetProx(n int, theta, y []float64, lambda, floor float64, phi []float64) bool {
	for _, v := range y[:n*n] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	x, v := matrix(y, n, n, n, true, false), matrix(phi, 1, n, n, false, true)
	to, l := matrix(theta, n, n, n, false, true), matrix([]float64{lambda}, 1, 1, 1, true, false)
	d := int64(n)
	return e.informed(func(h *library.Handle, work workspace, info driver.Pointer) error {
		if err := e.eigen(h, work, n, x.p, v.p, info); err != nil {
			return err
		}
		q := queue{stream: e.stream, handle: h, functions: e.module.functions}
		q.over(kernels.SpectralValues, 1, d, v.p, v.p, l.p, floor)
		q.over(kernels.ScaleRows, 1, d, x.p, x.p, v.p, int64(1))
		q.try(func() error { return h.Syrk(library.Lower, false, n, n, 1, x.p, n, 0, to.p, n) })
		q.over(kernels.Mirror, 1, d, to.p, int64(0))
		return q.err
	}, x, v, to, l)
}

// Cholesky implements dense.Engine.
func (e *engine) Cholesky(n int, a []float64) bool {
	if n*n*n < smallest {
		return e.small.Cholesky(n, a)
	}
	return e.triangle(n, a, (*library.Handle).PotrfSize, (*library.Handle).Potrf)
}

// CholeskyInverse implements dense.Engine.
func (e *engine) CholeskyInverse(n int, a []float64) bool {
	if n*n*n < smallest {
		return e.small.CholeskyInverse(n, a)
	}
	return e.triangle(n, a, (*library.Handle).PotriSize, (*library.Handle).Potri)
}

// triangle runs a function of cuSOLVER on the upper triangle of a, by rows.
func (e *side) triangle(n int, a []float64,
	size func(*library.Handle, library.Triangle, int, driver.Pointer, int) (int, error),
	do func(*library.Handle, library.Triangle, int, driver.Pointer, int, driver.Pointer, int, driver.Pointer) error,
) bool {
	x := matrix(a, n, n, n, true, true)
	return e.informed(func(h *library.Handle, work workspace, info driver.Pointer) error {
		length, err := size(h, library.Lower, n, x.p, n)
		if err != nil {
			return err
		}
		w, err := work(8 * int64(length))
		if err != nil {
			return err
		}
		return do(h, library.Lower, n, x.p, n, w, length, info)
	}, x)
}

// informed runs f and reports whether its info is 0.
func (e *side) informed(f func(h *library.Handle, work workspace, info driver.Pointer) error, operands ...*operand) bool {
	info := matrix(make([]float64, 1), 1, 1, 1, true, true)
	e.run(func(h *library.Handle, work workspace) error { return f(h, work, info.p) }, append(operands, info)...)
	return int32(math.Float64bits(info.data[0])) == 0
}
