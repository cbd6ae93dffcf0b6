//go:build linux && (amd64 || arm64)

package kernels

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A device runs the kernels as a C++ compiler makes them: see testdata/harness.cpp.
type device struct{ launch, setWeights, limits, cornerAt uintptr }

var folder string // of what is compiled

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "kernels"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

var build = sync.OnceValues(func() (*device, error) {
	var names strings.Builder
	for _, k := range All() {
		fmt.Fprintf(&names, "K(%s)\n", k)
	}
	if err := os.WriteFile(filepath.Join(folder, "kernels.inc"), []byte(names.String()), 0o600); err != nil {
		return nil, err
	}
	library := filepath.Join(folder, "kernels.so")
	command := exec.Command("g++", "-std=c++17", "-O2", "-Wall", "-Wno-unknown-pragmas", "-Wno-unused-function", "-Werror",
		"-shared", "-fPIC", "-DEMULATOR", "-I.", "-Itestdata", "-I"+folder, "-o", library, "testdata/harness.cpp")
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	d := &device{}
	for name, to := range map[string]*uintptr{"launch": &d.launch, "set_weights": &d.setWeights, "limits": &d.limits, "corner_at": &d.cornerAt} {
		if *to, err = purego.Dlsym(handle, name); err != nil {
			return nil, err
		}
	}
	return d, nil
})

// emulated is the device. Tests that use it do not run in parallel.
func emulated(t *testing.T) *device {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("there is no g++, which compiles the kernels for this test")
	}
	d, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// guard is how many numbers before and behind memory are watched.
const guard = 40

// A vector is memory of the device, with guards.
type vector struct{ all []float64 }

const guardBits = 0x7ff8_dead_beef_cafe // a NaN

// memory is n numbers that nobody has written.
func memory(n int) vector {
	v := vector{make([]float64, n+2*guard)}
	for i := range v.all {
		v.all[i] = math.Float64frombits(guardBits)
	}
	return v
}

// filled is memory with a copy of values.
func filled(values ...[]float64) vector {
	all := slices.Concat(values...)
	v := memory(len(all))
	copy(v.values(), all)
	return v
}

func (v vector) values() []float64 { return v.all[guard : len(v.all)-guard] }

// null is a pointer that is null.
type null struct{}

// run launches k for problems, where the last of args is n. Args are vectors, null, int
// and float64. It fails t where the kernel writes besides its memory. The grid has
// at most most blocks, unless that is 0.
func (d *device) run(t *testing.T, k Kernel, problems, most int, backwards bool, args ...any) {
	t.Helper()
	blocks := k.Blocks(int64(args[len(args)-1].(int)))
	if most > 0 {
		blocks = min(blocks, most)
	}
	d.start(t, k, blocks, problems, backwards, -1, args...)
	for i, a := range args {
		if v, ok := a.(vector); ok {
			for j, x := range v.all {
				if (j < guard || j >= len(v.all)-guard) && math.Float64bits(x) != guardBits {
					t.Fatalf("%s wrote %v at %d of the %d numbers of argument %d", k, x, j-guard, len(v.all)-2*guard, i)
				}
			}
		}
	}
}

// start launches a grid of k, or only the block of that number unless it is -1.
func (d *device) start(t *testing.T, k Kernel, blocks, problems int, backwards bool, only int, args ...any) {
	t.Helper()
	values, pointers := make([]uint64, len(args)), make([]unsafe.Pointer, len(args))
	var pinner runtime.Pinner
	defer pinner.Unpin()
	for i, a := range args {
		pointers[i] = unsafe.Pointer(&values[i])
		switch a := a.(type) {
		case vector:
			first := &a.all[guard]
			pinner.Pin(first)
			values[i] = uint64(uintptr(unsafe.Pointer(first)))
		case null:
		case int:
			values[i] = uint64(a)
		case float64:
			values[i] = math.Float64bits(a)
		default:
			t.Fatalf("an argument is a %T", a)
		}
	}
	pinner.Pin(&values[0])
	pinner.Pin(&pointers[0])
	name := []byte(string(k) + "\x00")
	pinner.Pin(&name[0])
	var order uintptr
	if backwards {
		order = 1
	}
	failed, _, _ := purego.SyscallN(d.launch, uintptr(unsafe.Pointer(&name[0])), uintptr(blocks), uintptr(problems),
		uintptr(k.Threads()), uintptr(unsafe.Pointer(&pointers[0])), uintptr(len(args)), order, uintptr(only))
	runtime.KeepAlive(args)
	if failed != 0 {
		t.Fatalf("%s: %s", k, []string{
			1: "there is no such kernel", 2: "it has another number of arguments", 3: "some threads of a block do not come to a barrier",
		}[failed])
	}
}

// weights sets the constant of that name.
func (d *device) weights(values []float64) {
	if len(values) == 0 {
		values = []float64{math.NaN()}
	}
	purego.SyscallN(d.setWeights, uintptr(unsafe.Pointer(&values[0])), uintptr(len(values)))
	runtime.KeepAlive(values)
}

// twice is run, forwards into memory of its own and backwards on few blocks into another
// one: it fails t unless outputs, which are among args, get the same bits.
func (d *device) twice(t *testing.T, k Kernel, problems int, outputs []vector, args ...any) {
	t.Helper()
	d.capped(t, k, problems, 0, outputs, args...)
}

// capped is twice with at most most blocks the first time.
func (d *device) capped(t *testing.T, k Kernel, problems, most int, outputs []vector, args ...any) {
	t.Helper()
	before := make([][]float64, len(outputs))
	for i, o := range outputs {
		before[i] = slices.Clone(o.all)
	}
	d.run(t, k, problems, most, false, args...)
	for i, o := range outputs {
		after := slices.Clone(o.all)
		copy(o.all, before[i])
		before[i] = after
	}
	few := 2
	if most > 0 {
		few = min(few, most)
	}
	d.run(t, k, problems, few, true, args...)
	for i, o := range outputs {
		for j, v := range o.all {
			if math.Float64bits(v) != math.Float64bits(before[i][j]) {
				t.Fatalf("%s: number %d of output %d is %v, then %v", k, j-guard, i, before[i][j], v)
			}
		}
	}
}

// agree fails t unless got is want up to tolerance times the largest number of want. A NaN
// or infinite number must be where want has it.
func agree(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	var largest float64
	for _, v := range want {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, math.Abs(v))
		}
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tolerance*largest) && got[i] != v && !(math.IsNaN(v) && math.IsNaN(got[i])) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], v)
		}
	}
}

func TestConstants(t *testing.T) {
	d := emulated(t)
	for i, want := range []uintptr{threads, one, tile, weightsLength, mostSlots, CellSums} {
		if got, _, _ := purego.SyscallN(d.limits, uintptr(i)); got != want {
			t.Errorf("constant %d is %d in block.cuh, %d here", i, got, want)
		}
	}
}
