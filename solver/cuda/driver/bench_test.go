//go:build cuda && cgo

package driver_test

import "testing"

// What a call costs beside the work that it does.
func BenchmarkDo(b *testing.B) {
	d, _ := use(b)
	f := func() error { return nil }
	for b.Loop() {
		if err := d.Do(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEventDone(b *testing.B) {
	d, _ := use(b)
	do(b, d, func() error {
		e, err := d.NewEvent()
		if err != nil {
			return err
		}
		for b.Loop() {
			if _, err := e.Done(); err != nil {
				return err
			}
		}
		return e.Close()
	})
}

func BenchmarkLaunch(b *testing.B) {
	k := setUp(b)
	do(b, k.Device, func() error {
		if err := k.stream.Set8(k.a, 0, 8*size); err != nil {
			return err
		}
		for b.Loop() {
			if err := k.stream.Launch(k.scale, 1, 1, 1, k.b, k.a, 2.0, int64(1)); err != nil {
				return err
			}
		}
		return nil
	})
}
