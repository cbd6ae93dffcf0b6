//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

func TestFailAtNumber(t *testing.T) {
	d := open(t)
	var v int32
	d.Set(t, "EMULATOR_FAIL", "3")
	d.must("cuDriverGetVersion", out(&v))
	d.must("cuDriverGetVersion", out(&v))
	d.want(999, "cuDriverGetVersion", out(&v))
	d.must("cuDriverGetVersion", out(&v))
}

func TestFailAtName(t *testing.T) {
	d := open(t, "EMULATOR_FAIL_CODE", "2")
	d.Set(t, "EMULATOR_FAIL", "cuMemAlloc_v2:2")
	var v int32
	d.must("cuDriverGetVersion", out(&v))
	var p uintptr
	a := d.alloc(1)
	d.want(2, "cuMemAlloc_v2", out(&p), 8)
	d.must("cuMemcpyHtoD_v2", a, out(new(float64)), 8)
	d.alloc(1)
}

// A release that fails has released nevertheless: what is left is what the caller forgot.
func TestFailedReleaseReleases(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	var p, s uintptr
	d.must("cuMemAlloc_v2", out(&p), 8)
	d.must("cuStreamCreate", out(&s), 0)
	d.Set(t, "EMULATOR_FAIL", "1")
	d.want(999, "cuMemFree_v2", p)
	d.Set(t, "EMULATOR_FAIL", "cuStreamDestroy_v2:1")
	d.want(999, "cuStreamDestroy_v2", s)
}

func TestFailureOfLibraries(t *testing.T) {
	d := open(t)
	var h uintptr
	d.Set(t, "EMULATOR_FAIL", "1")
	d.want(14, "cublasCreate_v2", out(&h))
	d.Set(t, "EMULATOR_FAIL", "cusolverDnCreate:1")
	d.want(7, "cusolverDnCreate", out(&h))
}

func TestLostDevice(t *testing.T) {
	d := open(t)
	d.CheckNothingLeft(t)
	var p, h uintptr
	d.must("cuMemAlloc_v2", out(&p), 8)
	d.must("cublasCreate_v2", out(&h))
	d.Set(t, "EMULATOR_LOST_AFTER", "1")
	d.must("cuCtxSynchronize")
	d.want(719, "cuCtxSynchronize")
	d.want(719, "cuMemFree_v2", p)
	d.want(13, "cublasDestroy_v2", h)
	d.Set(t, "EMULATOR_LOST_CODE", "46")
	d.want(46, "cuCtxSynchronize")
	d.Set(t, "EMULATOR_LOST_AFTER", "")
	d.must("cuCtxSynchronize")
}

func TestUnknownSetting(t *testing.T) {
	d := load(t)
	if d.change("EMULATOR_FALL", "1") {
		t.Error("a misspelt setting was taken")
	}
}

const child = "GLADFLOW_EMULATOR_TEST_CHILD"

// childProcess runs one test of this binary alone, as a program with the settings of its
// environment. What the emulator cannot be built without ends this test, not only that one.
func childProcess(t *testing.T, test string, environment ...string) ([]byte, error) {
	t.Helper()
	Build(t, Kernels(testKernels))
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	c.Env = append(append(os.Environ(), child+"=1"), environment...)
	return c.CombinedOutput()
}

func TestReport(t *testing.T) {
	if os.Getenv(child) != "" {
		d := open(t)
		var p uintptr
		d.must("cuMemAlloc_v2", out(&p), 24)
		d.must("cuMemAlloc_v2", out(&p), 8)
		d.must("cuMemFree_v2", p)
		d.call("cuMemFree_v2", p)
		var s uintptr
		d.must("cuStreamCreate", out(&s), 0)
		os.Exit(0) // runs no exit function
	}
	folder := t.TempDir()
	if text, err := childProcess(t, "TestReport", "EMULATOR_REPORT="+filepath.Join(folder, "%p")); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	files, _ := os.ReadDir(folder)
	if len(files) != 1 {
		t.Fatalf("%d reports, want 1", len(files))
	}
	if _, err := strconv.Atoi(files[0].Name()); err != nil {
		t.Errorf("the report is called %s, want the process's number", files[0].Name())
	}
	got, err := ReadReport(filepath.Join(folder, files[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"allocations": 1, "allocated_bytes": 24, "most_allocated_bytes": 32, "streams": 1, "contexts": 1,
		"primary_references": 1, "bad_frees": 1, "complaints": 1, "call.cuMemAlloc_v2": 2, "calls": 8,
	} {
		if got[name] != want {
			t.Errorf("the report counts %d %s, want %d", got[name], name, want)
		}
	}
}

func TestMisspeltVariable(t *testing.T) {
	if os.Getenv(child) != "" {
		load(t).must("cuInit", 0)
		return
	}
	if text, err := childProcess(t, "TestMisspeltVariable", "EMULATOR_FALL=1"); err == nil {
		t.Errorf("a misspelt variable was taken:\n%s", text)
	}
}
