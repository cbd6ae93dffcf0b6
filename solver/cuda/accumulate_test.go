//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/dense"
)

// An onDevice is an engine of the CPU whose accumulators are the device's. It counts
// them, and how often it was asked for one.
type onDevice struct {
	dense.Gonum
	device dense.AccumulatingEngine
	begun  int
	asked  int
}

func accumulatorsOf(b *Backend) *onDevice {
	return &onDevice{device: b.Engine(nil).(dense.AccumulatingEngine)}
}

func (e *onDevice) Accumulate(ctx context.Context, n, rows, known int, sums []float64) (dense.Accumulator, error) {
	a, err := e.device.Accumulate(ctx, n, rows, known, sums)
	e.asked++
	if a != nil {
		e.begun++
	}
	return a, err
}

// related are m samples of d variables, which differ in size and in where they lie, and
// grow, so that scales are raised on the way.
func related(r *rand.Rand, m, d int, unit float64) []float64 {
	x := make([]float64, m*d)
	for i := range m {
		var before float64
		for j := range d {
			before = r.NormFloat64() + 0.6*before
			x[i*d+j] = unit * math.Ldexp(1, 3*(j%5)) * (float64(j) + before*(1+float64(i)/100))
		}
	}
	return x
}

func estimated(t *testing.T, x []float64, d int, s covariance.Settings) *covariance.Result {
	t.Helper()
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(x, d), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameEstimate compares entries, each with the deviations of its variables.
func sameEstimate(t *testing.T, what string, got, want *covariance.Result) {
	t.Helper()
	for i := range want.S.Len() {
		for j := range want.S.Len() {
			scale := math.Sqrt(want.S.At(i, i)) * math.Sqrt(want.S.At(j, j))
			if e := math.Abs(got.S.At(i, j)-want.S.At(i, j)) / scale; !(e <= 1e-12) {
				t.Fatalf("%s: entry %d, %d is %v, want %v", what, i, j, got.S.At(i, j), want.S.At(i, j))
			}
		}
		if e := math.Abs(got.StdDevs[i]/want.StdDevs[i] - 1); !(e <= 1e-12) {
			t.Fatalf("%s: deviation %d is %v, want %v", what, i, got.StdDevs[i], want.StdDevs[i])
		}
	}
	if !slices.Equal(got.Means, want.Means) {
		t.Fatalf("%s: other means", what)
	}
	if !(math.Abs(got.Shrinkage-want.Shrinkage) <= 1e-10) {
		t.Fatalf("%s: shrinkage %v, want %v", what, got.Shrinkage, want.Shrinkage)
	}
}

// Sums on the device are those on the CPU, whether they begin there or are handed over,
// and whatever order streams run in.
func TestAccumulatedCovariance(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	for seed, order := range []string{"", "1", "2"} {
		control.Set(t, "EMULATOR_DEFERRED", order)
		b := opened(t)
		for _, c := range []struct {
			m, d int
			unit float64
		}{{2, 1, 1}, {257, 3, 1}, {256, 31, 1}, {1100, 33, 1}, {900, 17, 1e200}, {900, 17, 1e-200}, {700, 5, 0x1p-1060}} {
			x := related(rand.New(rand.NewPCG(uint64(seed), uint64(c.d))), c.m, c.d, c.unit)
			for _, s := range []covariance.Settings{{}, {Method: covariance.Covariance}, {Method: covariance.Spearman}, {LedoitWolf: true}} {
				if s.Method == covariance.Covariance && c.unit != 1 {
					continue // has no variance in float64
				}
				s.Engine = dense.Gonum{}
				want := estimated(t, x, c.d, s)
				for _, handOver := range []int{0, 300} {
					b.accumulateFrom = float64(handOver * c.d * c.d)
					e := accumulatorsOf(b)
					s.Engine = e
					got := estimated(t, x, c.d, s)
					if begun := e.begun == 1; begun != (c.m >= handOver) {
						t.Errorf("%d samples, from %d: %d accumulators", c.m, handOver, e.begun)
					}
					sameEstimate(t, fmt.Sprintf("m = %d, d = %d, unit %v, %v from %d, order %q", c.m, c.d, c.unit, s.Method, handOver, order), got, want)
				}
			}
		}
	}
}

// Constant columns are refused as they are on the CPU, and so are too few samples and
// values that are not finite.
func TestAccumulatedFaults(t *testing.T) {
	emulated(t).CheckNothingLeft(t)
	b := opened(t)
	b.accumulateFrom = 0
	const m, d = 700, 4
	good := related(rand.New(rand.NewPCG(3, 3)), m, d, 1)
	with := func(f func(i int) float64) []float64 {
		x := slices.Clone(good)
		for i := range m {
			x[i*d+2] = f(i)
		}
		return x
	}
	for name, x := range map[string][]float64{
		"constant":    with(func(int) float64 { return 1e17 / 3 }),
		"to rounding": with(func(i int) float64 { return 1.0/3 + float64(i%2)*0x1p-54 }),
		"NaN":         with(func(i int) float64 { return math.Log(float64(600 - i)) }),
		"far apart":   with(func(i int) float64 { return 1.7e308 * float64(1-2*(i%2)) }),
		"one sample":  good[:d],
		"none":        nil,
	} {
		_, want := covariance.Estimate(t.Context(), covariance.NewTable(x, d), d, covariance.Settings{Engine: dense.Gonum{}})
		_, err := covariance.Estimate(t.Context(), covariance.NewTable(x, d), d, covariance.Settings{Engine: accumulatorsOf(b)})
		if want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

// Where there is no memory for it on the device, the CPU does it.
func TestAccumulateOutOfMemory(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	b.accumulateFrom = 0
	const m, d = 600, 20
	x := related(rand.New(rand.NewPCG(4, 4)), m, d, 1)
	want := estimated(t, x, d, covariance.Settings{Engine: dense.Gonum{}})
	all := b.budget.free
	try := func(what string) {
		t.Helper()
		e := accumulatorsOf(b)
		sameEstimate(t, what, estimated(t, x, d, covariance.Settings{Engine: e}), want)
		if e.begun != 0 {
			t.Errorf("%s: an accumulator is taken", what)
		}
	}
	b.budget.free = 1000
	try("budget")
	if b.budget.free != 1000 {
		t.Errorf("%d of the budget are left of 1000", b.budget.free)
	}
	b.budget.free = all

	// Another process has it: the driver says so, in any of the calls that take memory.
	for n := 1; n <= 3; n++ {
		control.Set(t, "EMULATOR_FAIL_CODE", "2")
		control.Set(t, "EMULATOR_FAIL", fmt.Sprintf("cuMemAlloc_v2:%d", n))
		e := accumulatorsOf(b)
		sameEstimate(t, "driver", estimated(t, x, d, covariance.Settings{Engine: e}), want)
		control.Set(t, "EMULATOR_FAIL", "")
		if e.begun != 1 || e.asked != 2 {
			t.Errorf("allocation %d fails: asked %d times, %d accumulators", n, e.asked, e.begun)
		}
	}
	if b.budget.free != all {
		t.Errorf("%d of the budget are left of %d", b.budget.free, all)
	}
}

// Whichever call fails, there is an error in one sentence or the result of the CPU, and
// nothing is left.
func TestEveryCallOfAnAccumulatorFails(t *testing.T) {
	control := emulated(t)
	const m, d = 600, 3
	x := related(rand.New(rand.NewPCG(5, 5)), m, d, 1)
	want := estimated(t, x, d, covariance.Settings{Engine: dense.Gonum{}})
	for _, code := range []string{"1", "2", "700"} {
		t.Run("code "+code, func(t *testing.T) {
			if len(code) == 1 {
				control.CheckNothingLeft(t)
			}
			failures, successes := 0, 0
			for n := 1; successes < 4; n++ {
				control.Set(t, "EMULATOR_FAIL_CODE", code)
				control.Set(t, "EMULATOR_FAIL", fmt.Sprint(n))
				var got *covariance.Result
				err := func() error {
					b, err := New(0)
					if err != nil {
						return err
					}
					b.accumulateFrom = 0
					all := b.budget.free
					got, err = covariance.Estimate(t.Context(), covariance.NewTable(x, d), d, covariance.Settings{Engine: accumulatorsOf(b)})
					if b.budget.free != all {
						t.Errorf("call %d: the budget is not given back", n)
					}
					return errors.Join(err, b.Close())
				}()
				control.Set(t, "EMULATOR_FAIL", "")
				if got != nil {
					sameEstimate(t, fmt.Sprintf("call %d", n), got, want)
				}
				if err == nil {
					successes++
					continue
				}
				failures++
				successes = 0
				if text, _, _ := strings.Cut(err.Error(), "\n"); text == "" || strings.Contains(text, "runtime error") {
					t.Errorf("call %d: %v", n, err)
				}
				if n > 2000 {
					t.Fatal("it never ends")
				}
			}
			if failures < 30 {
				t.Errorf("only %d failures were told", failures)
			}
		})
	}
}

// A samplesUntil cancels before its last batch.
type samplesUntil struct {
	covariance.Source
	left   int
	cancel func()
	rows   []float64
	d      int
}

func (s *samplesUntil) Next() ([]float64, int, error) {
	if s.left--; s.left == 0 {
		s.cancel()
	}
	return s.rows, len(s.rows) / s.d, nil
}

// What is cancelled ends at once, gives everything back, and the backend goes on.
func TestAccumulateCancelled(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	b.accumulateFrom = 0
	all := b.budget.free
	const d = 40
	x := related(rand.New(rand.NewPCG(6, 6)), 256, d, 1)
	for batches := 1; batches <= 4; batches++ {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := covariance.Estimate(ctx, &samplesUntil{left: batches, cancel: cancel, rows: x, d: d}, d, covariance.Settings{Engine: accumulatorsOf(b)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d batches: %v", batches, err)
		}
	}
	for i := range 6 { // wherever it is
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(3*i)*time.Millisecond)
		_, err := covariance.Estimate(ctx, &samplesUntil{left: -1, rows: x, d: d}, d, covariance.Settings{Engine: accumulatorsOf(b)})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
	// Each call of its own.
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func(a *accumulator) error{
		"Scale": func(a *accumulator) error { return a.Scale(over, x[:d]) },
		"Add":   func(a *accumulator) error { return a.Add(over, 1, x) },
		"Sum":   func(a *accumulator) error { return a.Sum(over, make([]float64, d*d)) },
	} {
		a, err := b.newAccumulator(t.Context(), d, 257, nil)
		if err != nil || a == nil {
			t.Fatal(a, err)
		}
		if err := a.Add(t.Context(), 256, x); err != nil {
			t.Fatal(err)
		}
		if err := call(a); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	b.background.Wait()
	if b.budget.free != all {
		t.Errorf("%d of the budget are left of %d", b.budget.free, all)
	}
	sameEstimate(t, "afterwards", estimated(t, x, d, covariance.Settings{Engine: accumulatorsOf(b)}), estimated(t, x, d, covariance.Settings{Engine: dense.Gonum{}}))
}

// A device that fails is told as such.
func TestAccumulateErrorIsTheDevices(t *testing.T) {
	control := emulated(t)
	b, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	b.accumulateFrom = 0
	const d = 3
	x := related(rand.New(rand.NewPCG(7, 7)), 300, d, 1)
	control.Set(t, "EMULATOR_FAIL_CODE", "700")
	control.Set(t, "EMULATOR_FAIL", "cuMemcpyDtoHAsync_v2:1")
	_, err = covariance.Estimate(t.Context(), covariance.NewTable(x, d), d, covariance.Settings{Engine: accumulatorsOf(b)})
	control.Set(t, "EMULATOR_FAIL", "")
	var of *driver.Error
	if !errors.As(err, &of) {
		t.Errorf("%v", err)
	}
	_ = b.Close() // the card is lost
}
