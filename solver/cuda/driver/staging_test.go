//go:build cuda && cgo

package driver_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

func TestStaging(t *testing.T) {
	const part = 1 << 20
	for seed, n := range []int{0, 1, part - 1, part, part + 1, 2 * part, 2*part + 1, 5*part + 77} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			d, control := use(t)
			control.Set(t, "EMULATOR_DEFERRED", strconv.Itoa(seed+1))
			var (
				s *driver.Stream
				g *driver.Staging
				p driver.Pointer
			)
			do(t, d, func() (err error) {
				if s, err = d.NewStream(); err != nil {
					return err
				}
				if g, err = d.NewStaging(s); err != nil {
					return err
				}
				p, err = d.Alloc(int64(n+1) * 8)
				return err
			})
			values, got := make([]float64, n), make([]float64, n)
			for i := range values {
				values[i] = float64(i)
			}
			want := slices.Clone(values)
			if err := g.Upload(t.Context(), p, values); err != nil {
				t.Fatal(err)
			}
			clear(values) // they have been read
			if err := g.Download(t.Context(), got, p); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Error("not what was sent")
			}
			// Where it ends early nothing is lost, and it ends between any two pieces.
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			cancel(cause)
			if err := g.Upload(ctx, p, want); n > 0 && err != cause {
				t.Error(err)
			}
			if err := g.Download(ctx, got, p); n > 0 && err != cause {
				t.Error(err)
			}
			do(t, d, func() error { return errors.Join(g.Close(), d.Free(p), s.Close()) })
		})
	}
}

func TestStagingFails(t *testing.T) {
	d, control := use(t)
	do(t, d, func() error {
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		for _, n := range []string{"1", "2", "3", "4"} {
			control.Set(t, "EMULATOR_FAIL_CODE", "2")
			control.Set(t, "EMULATOR_FAIL", n)
			_, err = d.NewStaging(s)
			wants(t, err, driver.OutOfMemory)
		}
		control.Set(t, "EMULATOR_FAIL", "")
		return s.Close()
	})
}
