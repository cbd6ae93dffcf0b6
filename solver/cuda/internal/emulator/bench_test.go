//go:build linux && (amd64 || arm64)

package emulator

import (
	"runtime"
	"testing"
)

// The kernels of a run with d = 1081: entry by entry, and with barriers.
func BenchmarkLaunch(b *testing.B) {
	const n = 1081
	d := load(b)
	d.must("cuInit", 0)
	d.retain(0)
	m := d.module()
	x, y, z, partial := d.put(ramp(n*n)...), d.put(ramp(n*n)...), d.alloc(n*n), d.alloc(n)
	for _, c := range []struct {
		name      string
		grid      int
		block     int
		arguments []any
	}{
		{"form_y", (n*n + 255) / 256, 256, []any{z, x, y, 2.0, n * n}},
		{"partial_sums", n, 128, []any{partial, x, n * n}},
		{"mirror_tiles", 68 * 68, 256, []any{x, n}},
	} {
		b.Run(c.name, func(b *testing.B) {
			runtime.LockOSThread() // benchmarks inside another run on threads of their own
			defer runtime.UnlockOSThread()
			d.must("cuCtxSetCurrent", d.context)
			f := d.function(m, c.name)
			for b.Loop() {
				if code := d.launch(f, 0, c.grid, 1, c.block, c.arguments...); code != 0 {
					b.Fatal(code, d.Complaint())
				}
			}
		})
	}
}
