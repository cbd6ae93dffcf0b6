//go:build cuda && cgo

package driver_test

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// emulated opens the emulated driver in this process.
func emulated(t testing.TB) *emulator.Control {
	t.Helper()
	folder := folder(t)
	os.Setenv(driver.PathVariable, folder)
	os.Setenv("EMULATOR_DEVICES", "2") // for the first test that opens it
	defer os.Unsetenv("EMULATOR_DEVICES")
	if err := driver.Open(); err != nil {
		t.Fatal(err)
	}
	return emulator.Open(t, folder)
}

func folder(t testing.TB) string {
	return emulator.Build(t, emulator.Kernels("testdata/kernels.cu"))
}

// program builds testdata/program.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "gladflow-driver-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-tags", "cuda", "-o", folder, "./testdata/program").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return filepath.Join(folder, "program"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	if file, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(file))
	}
	os.Exit(code)
}

// run runs the program, and returns its four lines.
func run(t *testing.T, env ...string) []string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(file)
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, driver.PathVariable+"=") || strings.HasPrefix(v, "CUDA_VISIBLE_DEVICES=")
	}), env...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%q", lines)
	}
	want := "NotInitialized NotInitialized"
	if lines[1] == "unknown" { // no error
		want = "NotInitialized NotSupported"
	}
	if lines[0] != want {
		t.Errorf("calls before Open, and of a missing function after it, say %q, not %q", lines[0], want)
	}
	return lines[1:]
}

// A program with this package needs no library of CUDA's to start, and shows none of
// the trampoline's functions to the libraries that it opens.
func TestProgramNeedsNoDriver(t *testing.T) {
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	libraries, err := binary.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		if !strings.HasPrefix(l, "libc.so") && !strings.HasPrefix(l, "libdl.so") && !strings.HasPrefix(l, "libpthread.so") {
			t.Errorf("it needs %s", l)
		}
	}
	symbols, err := binary.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "cu") && !strings.HasPrefix(s.Name, "cur") {
			t.Errorf("it shows or wants %s", s.Name)
		}
	}
}

func TestOpenFails(t *testing.T) {
	works := driver.PathVariable + "=" + folder(t)
	empty, text, other := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(text+"/libcuda.so.1", []byte("no library\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-x", "c", "-o", other+"/libcuda.so.1", "/dev/null").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	in := func(folder string) []string { return []string{driver.PathVariable + "=" + folder} }
	init := func(code string) []string {
		return []string{works, "EMULATOR_FAIL=cuInit:1", "EMULATOR_FAIL_CODE=" + code}
	}
	for name, c := range map[string]struct {
		env      []string
		kind     driver.Kind
		sentence string // part of it
	}{
		"no library":        {in(empty), driver.NoLibrary, "there is no usable libcuda.so.1 in " + empty + ", the folder of GLADFLOW_CUDA_PATH"},
		"no library at all": {in(text), driver.NoLibrary, "file too short"},
		"another library":   {in(other), driver.NoDriver, "libcuda.so.1 is not the library of NVIDIA's driver: it has no cuInit"},
		"no device":         {[]string{works, "EMULATOR_NO_DEVICE=1"}, driver.NoDevice, "NVIDIA's driver runs, but finds no GPU: see what nvidia-smi lists"},
		"none visible":      {[]string{works, "EMULATOR_NO_DEVICE=1", "CUDA_VISIBLE_DEVICES=7"}, driver.NoDevice, "that CUDA_VISIBLE_DEVICES=7 leaves"},
		"old driver":        {[]string{works, "EMULATOR_DRIVER_VERSION=11080"}, driver.TooOld, "NVIDIA's driver is of CUDA 11.8, and 12.0 is the oldest that can be used: install driver 525 or a newer one"},
		"stub":              {init("34"), driver.NoDriver, "is the stub of a CUDA toolkit"},
		"other version":     {init("803"), driver.NoDriver, "restart the machine"},
		"cuda-compat":       {init("804"), driver.TooOld, "remove cuda-compat"},
		"fabric":            {init("802"), driver.NoDriver, "nvidia-fabricmanager"},
		"forbidden":         {init("800"), driver.NoDriver, "/dev/nvidia*"},
		"no memory":         {init("2"), driver.OutOfMemory, "want of memory"},
		"unknown":           {init("999"), driver.NoDriver, "cuInit says CUDA_ERROR_UNKNOWN (999"},
		"version":           {[]string{works, "EMULATOR_FAIL=cuDriverGetVersion:1", "EMULATOR_FAIL_CODE=3"}, driver.NoDriver, "NVIDIA's driver does not run: CUDA_ERROR_NOT_INITIALIZED (3"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := run(t, c.env...)
			if lines[0] != c.kind.String() || !strings.Contains(lines[1], c.sentence) || strings.Contains(lines[1], "%!") {
				t.Errorf("kind %s: %s", lines[0], lines[1])
			}
			if lines[2] != "0 0" {
				t.Errorf("version and count are %s", lines[2])
			}
		})
	}
}

func TestOpen(t *testing.T) {
	lines := run(t, driver.PathVariable+"="+folder(t), "EMULATOR_DRIVER_VERSION=13000", "EMULATOR_DEVICES=3")
	if lines[0] != "unknown" || lines[1] != "<nil>" || lines[2] != "13000 3" {
		t.Errorf("%q", lines)
	}
}

func TestKind(t *testing.T) {
	if driver.KindOf(nil) != 0 || driver.KindOf(os.ErrExist) != 0 {
		t.Error("an error of another type has a kind")
	}
	if k := driver.Kind(99); k.String() != "unknown" {
		t.Error(k)
	}
}
