//go:build cuda && cgo

package library

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

func TestFailures(t *testing.T) {
	spoilt(t, func(b *bench) {
		p := b.room(16)
		wants := func(err error, kind driver.Kind, parts ...string) {
			t.Helper()
			e, ok := errors.AsType[*driver.Error](err)
			if !ok || e.Kind != kind || strings.Contains(e.Message, "%!") {
				t.Fatalf("%v", err)
			}
			for _, part := range parts {
				if !strings.Contains(e.Message, part) {
					t.Errorf("%q does not say %q", e.Message, part)
				}
			}
		}
		complaints := b.Count("complaints")
		// A leading dimension that is too small, and sizes beyond 32 bits.
		wants(b.Gemm(false, false, 4, 4, 4, 1, p, 2, p, 4, 0, p, 4), driver.Failed, "GPU 0 (", "cublasDgemm failed with CUBLAS_STATUS_INVALID_VALUE (7, an argument is out of range)")
		wants(b.Scal(1<<31, 1, p, 1), driver.Failed, "cublasDscal takes no sizes above 2147483647")
		wants(b.Scal(-1, 1, p, 1), driver.Failed, "nor below 0")
		if now := b.Count("complaints"); now != complaints+1 {
			t.Errorf("%d complaints: sizes beyond 32 bits reached the library", now-complaints)
		}
		for code, c := range map[int]struct {
			kind  driver.Kind
			parts []string
		}{
			1:  {driver.Failed, []string{"CUBLAS_STATUS_NOT_INITIALIZED"}},
			3:  {driver.OutOfMemory, []string{"CUBLAS_STATUS_ALLOC_FAILED", "4.3 of its 4.3 GB are free, this process holds 0.0"}},
			8:  {driver.TooOld, []string{"ARCH_MISMATCH", "take a newer GPU"}},
			13: {driver.Failed, []string{"EXECUTION_FAILED (13, the GPU did not run it)"}},
			77: {driver.Failed, []string{"cublasDscal failed with 77, a status that is not known"}},
		} {
			b.Set(t, "EMULATOR_FAIL_CODE", strconv.Itoa(code))
			b.Set(t, "EMULATOR_FAIL", "cublasDscal_v2:1")
			wants(b.Scal(1, 1, p, 1), c.kind, c.parts...)
		}
		for code, part := range map[int]string{2: "CUSOLVER_STATUS_ALLOC_FAILED", 7: "CUSOLVER_STATUS_INTERNAL_ERROR (7, something inside cuSOLVER failed)", 31: "INVALID_WORKSPACE"} {
			b.Set(t, "EMULATOR_FAIL_CODE", strconv.Itoa(code))
			b.Set(t, "EMULATOR_FAIL", "cusolverDnDpotrf_bufferSize:1")
			_, err := b.PotrfSize(Lower, 4, p, 4)
			kind := driver.Failed
			if code == 2 {
				kind = driver.OutOfMemory
			}
			wants(err, kind, "cusolverDnDpotrf_bufferSize failed with", part)
		}
		b.Set(t, "EMULATOR_FAIL", "")
		for n := 1; n <= 5; n++ {
			b.Set(t, "EMULATOR_FAIL_CODE", "1")
			b.Set(t, "EMULATOR_FAIL", strconv.Itoa(n))
			_, err := b.NewHandle(b.d, b.stream)
			wants(err, driver.Failed, "NOT_INITIALIZED", "the driver is too old for it, or the GPU has no memory left")
		}
		for n := 1; n <= 2; n++ {
			b.Set(t, "EMULATOR_FAIL", strconv.Itoa(n))
			_, err := b.NewSolverHandle(b.d, b.stream)
			wants(err, driver.Failed, "NOT_INITIALIZED")
		}
		b.Set(t, "EMULATOR_FAIL", "")
		other, err := b.NewHandle(b.d, b.stream)
		b.ok(err)
		b.ok(other.Close())
		wants(other.Scal(1, 1, p, 1), driver.Failed, "called after Close")
	})
}

// A library's failure that comes of a lost GPU says so.
func TestLostBehindStatus(t *testing.T) {
	spoilt(t, func(b *bench) {
		p := b.room(4)
		b.Set(t, "EMULATOR_LOST_AFTER", "0")
		err := b.Scal(1, 1, p, 1)
		if driver.KindOf(err) != driver.Lost || b.d.Lost() == nil {
			t.Errorf("%v", err)
		}
		calls := b.Count("calls")
		if again := b.Gemm(false, false, 1, 1, 1, 1, p, 1, p, 1, 0, p, 1); again != err {
			t.Error(again)
		}
		if b.Count("calls") != calls {
			t.Error("a call of a lost GPU")
		}
	})
}
