//go:build cuda

package cuda

import (
	"errors"
	"os"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// What others take of the device while nobody uses it is no longer there for sessions,
// and what they give back is.
func TestRefresh(t *testing.T) {
	b := opened(t)
	all := b.budget.free
	var taken driver.Pointer
	const bytes = 1 << 20
	if err := b.device.Do(func() (err error) { taken, err = b.device.Alloc(bytes); return err }); err != nil {
		t.Fatal(err)
	}
	if err := b.Refresh(); err != nil {
		t.Fatal(err)
	}
	if less := all - b.budget.free; less < bytes*9/10 || less > 3*bytes {
		t.Errorf("of %d bytes that others have taken, the budget has lost %d", bytes, less)
	}
	if err := b.device.Do(func() error { return b.device.Free(taken) }); err != nil {
		t.Fatal(err)
	}
	if err := b.Refresh(); err != nil || b.budget.free != all {
		t.Errorf("%v, %d bytes, of %d at first", err, b.budget.free, all)
	}
}

// A device that was lost in the meantime says so, and is another one when it was closed.
func TestRefreshOfALostDevice(t *testing.T) {
	if os.Getenv("GLADFLOW_CUDA_TEST") == "device" {
		t.Skip("it takes a device that can be lost")
	}
	folder := emulator.Build(t)
	t.Setenv("GLADFLOW_CUDA_PATH", folder)
	b, err := New(0)
	if err != nil {
		t.Fatal(err)
	}
	control := emulator.Open(t, folder)
	control.Set(t, "EMULATOR_LOST_AFTER", "0")
	var lost *driver.Error
	for range 2 {
		if err := b.Refresh(); !errors.As(err, &lost) || lost.Kind != driver.Lost {
			t.Errorf("%v", err)
		}
	}
	control.Set(t, "EMULATOR_LOST_AFTER", "")
	_ = b.Close() // which says that it is lost
	if err := opened(t).Refresh(); err != nil {
		t.Errorf("%v", err)
	}
}
