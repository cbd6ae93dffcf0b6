//go:build linux && (amd64 || arm64)

package emulator

import (
	"math"
	"strings"
	"testing"
)

func ramp(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Sin(float64(i))
	}
	return v
}

func TestKernel(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	m := d.module()
	const n, problems = 1000, 3
	s, z := ramp(n*problems), ramp(n * problems)[1:]
	z = append(z, 5)
	y, ds, dz := d.alloc(n*problems), d.put(s...), d.put(z...)
	if code := d.launch(d.function(m, "form_y"), 0, 2, problems, 128, y, ds, dz, 2.5, n); code != 0 {
		t.Fatal(code, d.Complaint())
	}
	for i, got := range d.get(y, n*problems) {
		if want := s[i]*2.5 - z[i]; got != want {
			t.Fatalf("entry %d is %v, want %v", i, got, want)
		}
	}
}

func TestKernelBarriers(t *testing.T) {
	for _, seed := range []string{"", "1", "2", "3"} {
		d := open(t, "EMULATOR_DEFERRED", seed)
		m := d.module()
		const n, blocks = 5000, 7
		x := ramp(n)
		partial := d.alloc(blocks)
		if code := d.launch(d.function(m, "partial_sums"), 0, blocks, 1, 128, partial, d.put(x...), n); code != 0 {
			t.Fatal(code, d.Complaint())
		}
		var got, want float64
		for _, v := range d.get(partial, blocks) {
			got += v
		}
		for _, v := range x {
			want += v
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("sum %v, want %v", got, want)
		}
		const size = 45
		a := ramp(size * size)
		da := d.put(a...)
		if code := d.launch(d.function(m, "mirror_tiles"), 0, 9, 1, 256, da, size); code != 0 {
			t.Fatal(code, d.Complaint())
		}
		for i, v := range d.get(da, size*size) {
			r, c := i/size, i%size
			if want := a[min(r, c)*size+max(r, c)]; v != want {
				t.Fatalf("entry %d,%d is %v, want %v", r, c, v, want)
			}
		}
	}
}

func TestKernelMistakes(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		arguments func(d *device) []any
		code      int
		complaint string
	}{
		{"diverge", func(d *device) []any { return []any{d.alloc(1)} }, 719, "__syncthreads in block 0 reached by 32 of 64 threads"},
		{"write_far", func(d *device) []any { return []any{d.alloc(8), 100000} }, 700, "write_far: block 0,0 thread 0 used the address"},
		{"read_past", func(d *device) []any { return []any{d.alloc(1), d.alloc(512), 512} }, 700, "read_past"},
		{"write_before", func(d *device) []any { return []any{d.alloc(512)} }, 700, "write_before"},
		{"write_before", func(d *device) []any { return []any{d.alloc(100)} }, 0, "write_before: byte 1 before an allocation of 800 bytes was written"},
		{"write_far", func(d *device) []any { return []any{d.alloc(1), 1} }, 0, "write_far: byte 0 behind an allocation of 8 bytes was written"},
		{"write_far", func(d *device) []any { return []any{out(new(float64)), 0} }, 700, "is no memory of this context"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			d := open(t)
			m := d.module()
			before := d.Count("complaints")
			if code := d.launch(d.function(m, c.kernel), 0, 1, 1, 64, c.arguments(d)...); code != c.code {
				t.Errorf("status %d, want %d", code, c.code)
			}
			if !strings.Contains(d.Complaint(), c.complaint) || d.Count("complaints") == before {
				t.Errorf("the driver says %q, want %q", d.Complaint(), c.complaint)
			}
			if c.code != 0 {
				d.want(c.code, "cuCtxSynchronize") // the context is spoilt for good
			}
		})
	}
}

func TestKernelSharedMemoryIsStale(t *testing.T) {
	d := open(t)
	y := d.alloc(6)
	if code := d.launch(d.function(d.module(), "stale_shared"), 0, 3, 1, 32, y); code != 0 {
		t.Fatal(code, d.Complaint())
	}
	for i, v := range d.get(y, 6) {
		if !math.IsNaN(v) {
			t.Errorf("block %d finds %v in shared memory, want NaN", i/2, v)
		}
	}
}

// Threads that read what others have not written yet see it in some order of the deferred mode at least.
func TestKernelOrderDiffers(t *testing.T) {
	seen := make(map[float64]bool)
	for _, seed := range []string{"1", "2", "3", "4", "5"} {
		d := open(t, "EMULATOR_DEFERRED", seed)
		y := d.alloc(64)
		if code := d.launch(d.function(d.module(), "race"), 0, 1, 1, 64, y); code != 0 {
			t.Fatal(code)
		}
		for _, v := range d.get(y, 64) {
			seen[v] = true
		}
	}
	if len(seen) < 65 {
		t.Errorf("the race showed %d values, want the right 64 and NaN", len(seen))
	}
}

func TestConstants(t *testing.T) {
	d := open(t)
	a, b := d.module(), d.module()
	x, y := d.put(1, 2), d.alloc(2)
	var address, bytes uintptr
	d.must("cuModuleGetGlobal_v2", out(&address), out(&bytes), b, text("weights"))
	if bytes != 32 {
		t.Errorf("the constants have %d bytes, want 32", bytes)
	}
	d.must("cuMemcpyHtoD_v2", address, at([]float64{10, 0, 0, 1}), 32)
	d.want(500, "cuModuleGetGlobal_v2", out(&address), out(&bytes), b, text("weight"))
	for _, c := range []struct {
		module uintptr
		want   float64
	}{{a, 10}, {b, 11}, {a, 10}} {
		if code := d.launch(d.function(c.module, "weighted"), 0, 1, 1, 32, y, x, 2); code != 0 {
			t.Fatal(code)
		}
		if got := d.get(y, 2); got[0] != c.want || got[1] != 2*c.want {
			t.Errorf("weighted sums %v, want %v and its double", got, c.want)
		}
	}
}

func TestPTX(t *testing.T) {
	good := PTX(t, testKernels)
	for _, c := range []struct {
		old, new string
		settings []string
		load     int
		function int
	}{
		{"", "", nil, 0, 0},
		{".f64", ".u64", nil, 0, 200},
		{".param .f64 form_y_param_3,", "", nil, 0, 200},
		{".entry form_y(", ".entry form_x(", nil, 0, 500},
		{"weights[32]", "weights[40]", nil, 200, 0},
		{".version", ".vision", nil, 218, 0},
		{".version 8.0", ".version 8.9", nil, 0, 0},
		{".version 8.0", ".version 9.0", nil, 222, 0},
		{"", "", []string{"EMULATOR_DRIVER_VERSION", "11080"}, 222, 0},
		{"", "", []string{"EMULATOR_CAPABILITY", "75"}, 209, 0},
	} {
		d := open(t, c.settings...)
		image := good
		if c.old != "" {
			if image = strings.Replace(good, c.old, c.new, 1); image == good {
				t.Fatalf("the PTX has no %q", c.old)
			}
		}
		var m, f uintptr
		d.want(c.load, "cuModuleLoadData", out(&m), text(image))
		if c.load == 0 {
			d.want(c.function, "cuModuleGetFunction", out(&f), m, text("form_y"))
			d.must("cuModuleUnload", m)
			d.want(400, "cuModuleUnload", m)
		}
		for _, s := range c.settings {
			if strings.HasPrefix(s, "EMULATOR_") {
				d.Set(t, s, "")
			}
		}
	}
}

func TestLaunchArguments(t *testing.T) {
	d := open(t)
	m := d.module()
	f, y := d.function(m, "diverge"), d.alloc(1)
	for _, c := range []struct{ gridX, gridY, block, want int }{
		{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1025, 1}, {1, 65536, 1, 1},
	} {
		if code := d.launch(f, 0, c.gridX, c.gridY, c.block, y); code != c.want {
			t.Errorf("grid %d x %d of blocks of %d: %d, want %d", c.gridX, c.gridY, c.block, code, c.want)
		}
	}
	if code := d.launch(f, 77, 1, 1, 1, y); code != 400 {
		t.Errorf("launch in no stream: %d, want 400", code)
	}
	if code := d.launch(f+8, 0, 1, 1, 1, y); code != 400 {
		t.Errorf("launch of no function: %d, want 400", code)
	}
}
