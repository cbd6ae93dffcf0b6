//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	_, text, err := read(testKernels)
	if err != nil {
		t.Fatal(err)
	}
	kernels, constants, err := names(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"form_y", "partial_sums", "with_macro"} {
		if !slices.Contains(kernels, name) {
			t.Errorf("%s is not among the kernels %v", name, kernels)
		}
	}
	if !slices.Equal(constants, []string{"weights"}) {
		t.Errorf("constants %v", constants)
	}
}

// A kernel that the table would leave out is an error: its PTX would be tested by nobody.
func TestNamesRefused(t *testing.T) {
	for _, source := range []string{
		"__global__ void mangled(double *y) {}",
		`extern "C" __global__ int value(double *y) {}`,
		"__constant__ double *const table = nullptr;",
	} {
		if kernels, constants, err := names(source); err == nil {
			t.Errorf("%s was taken: %v %v", source, kernels, constants)
		}
	}
}

func TestBuildRefusesShortArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kernels.cu")
	source := "#include \"emulator.h\"\nextern \"C\" __global__ void narrow(double *y, int n) { y[0] = n; }\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := plan{kernels: file}.build()
	if err == nil || !strings.Contains(err.Error(), "copies 8 bytes of every argument") {
		t.Errorf("a kernel with an int compiled: %v", err)
	}
}

func TestBuildWithoutKernels(t *testing.T) {
	_, err := plan{kernels: filepath.Join(t.TempDir(), "none.cu")}.build()
	if err == nil || !strings.Contains(err.Error(), "there are no kernels in") {
		t.Errorf("no kernels: %v", err)
	}
}

func TestBuildIsKept(t *testing.T) {
	first := Build(t, Kernels(testKernels))
	clear(built)
	before, err := os.Stat(filepath.Join(first, "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	if again := Build(t, Kernels(testKernels)); again != first {
		t.Errorf("built in %s, then in %s", first, again)
	}
	if after, err := os.Stat(filepath.Join(first, "libcuda.so.1")); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the library was made again (%v)", err)
	}
}

func TestPrune(t *testing.T) {
	root := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"old", "new", "objects", "objects/old.o", "objects/new.o"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"old", "objects/old.o", "objects"} {
		if err := os.Chtimes(filepath.Join(root, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	prune(root, time.Now().Add(-time.Minute))
	for name, want := range map[string]bool{"old": false, "new": true, "objects": true, "objects/old.o": false, "objects/new.o": true} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

// Two builds in one process do not meet.
func TestTwoBuilds(t *testing.T) {
	open(t)
	file := filepath.Join(t.TempDir(), "kernels.cu")
	source := "#include \"emulator.h\"\nextern \"C\" __global__ void other(double *y) { y[0] = 42; }\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	d := loadFrom(t, Build(t, Kernels(file)))
	d.must("cuInit", 0)
	d.retain(0)
	var m uintptr
	d.must("cuModuleLoadData", out(&m), text(PTX(t, file)))
	defer d.call("cuModuleUnload", m)
	y := d.alloc(1)
	if code := d.launch(d.function(m, "other"), 0, 1, 1, 1, y); code != 0 || d.get(y, 1)[0] != 42 {
		t.Errorf("status %d (%s)", code, d.Complaint())
	}
	if d.Count("launch.other") != 1 {
		t.Error("the launch was counted elsewhere")
	}
}

// Processes that want the same libraries at the same time all get them.
func TestBuildAtOnce(t *testing.T) {
	const variable = "GLADFLOW_EMULATOR_TEST_KERNELS"
	if file := os.Getenv(variable); file != "" {
		d := loadFrom(t, Build(t, Kernels(file)))
		d.must("cuInit", 0)
		return
	}
	kernels, err := os.ReadFile(testKernels)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kernels.cu")
	kernels = fmt.Appendf(kernels, "// %d\n", time.Now().UnixNano()) // never built before
	if err := os.WriteFile(file, kernels, 0o600); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if text, err := childProcess(t, "TestBuildAtOnce", variable+"="+file); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
	group.Wait()
	folder, err := plan{kernels: file}.build()
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(folder)
}
