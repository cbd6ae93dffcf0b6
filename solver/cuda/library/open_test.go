//go:build cuda && cgo

package library

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
)

// openVariable has the test's program say what Open does, and no more.
const openVariable = "GLADFLOW_TEST_OPEN_LIBRARIES"

func TestMain(m *testing.M) {
	if os.Getenv(openVariable) != "" {
		_, err := Open()
		fmt.Printf("%v\n%v\n", driver.KindOf(err), err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func opens(t *testing.T, folder string, env ...string) (kind, sentence string) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), append(env, openVariable+"=1", driver.PathVariable+"="+folder)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kind, sentence, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return kind, sentence
}

func TestOpenFails(t *testing.T) {
	emulated := emulator.Build(t, emulator.Kernels(kernels))
	if kind, sentence := opens(t, emulated); kind != "unknown" || sentence != "<nil>" {
		t.Fatal(kind, sentence)
	}
	if kind, sentence := opens(t, emulated, "EMULATOR_NO_DEVICE=1"); kind != driver.NoDevice.String() {
		t.Error(kind, sentence)
	}
	// A driver, and no libraries.
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(emulated, "libcuda.so.1"), filepath.Join(folder, "libcuda.so.1")); err != nil {
		t.Fatal(err)
	}
	kind, sentence := opens(t, folder, "LD_LIBRARY_PATH="+emulated)
	if want := "there are no cuBLAS and cuSOLVER in " + folder + ", the folder of GLADFLOW_CUDA_PATH that a driver of CUDA 12.9 runs: install them ("; kind != driver.NoLibrary.String() || !strings.HasPrefix(sentence, want) {
		t.Error(kind, sentence)
	}
}

// stub makes a library without functions.
func stub(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-x", "c", "-o", file, "/dev/null").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestFindFails(t *testing.T) {
	for name, c := range map[string]struct {
		files    []string
		version  int
		sentence string
	}{
		"nothing":              {nil, 12090, "there are no cuBLAS and cuSOLVER"},
		"newer than driver":    {[]string{"libcublas.so.13", "libcusolver.so.12"}, 12090, "there are no cuBLAS and cuSOLVER"},
		"no cuSOLVER":          {[]string{"libcublas.so.12"}, 12090, "libcublas.so.12 is there, but not what belongs to it: "},
		"cuSOLVER of 13":       {[]string{"libcublas.so.12", "libcusolver.so.12"}, 13000, "libcusolver.so.11: cannot open"},
		"no functions":         {[]string{"libcublas.so.13", "libcusolver.so.12"}, 13010, "libcublas.so.13 has no cublasGetProperty"},
		"no functions of CUDA": {[]string{"libcublas.so.11", "libcusolver.so.11"}, 12000, "libcublas.so.11 has no cublasGetProperty"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for _, file := range c.files {
				stub(t, filepath.Join(folder, file))
			}
			_, err := find([]place{{folder, folder}}, c.version)
			if err == nil || !strings.Contains(err.Error(), c.sentence) || !strings.Contains(err.Error(), "pip install") || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	env := map[string]string{driver.PathVariable: "/odd"}
	getenv := func(name string) string { return env[name] }
	if got := places(getenv); !slices.Equal(got, []place{{"/odd", "/odd"}}) {
		t.Errorf("with %s: %v", driver.PathVariable, got)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env[driver.PathVariable] = "."
	if got := places(getenv); !slices.Equal(got, []place{{here, here}}) {
		t.Errorf("in this folder: %v", got)
	}
	root := t.TempDir()
	conda := t.TempDir()
	packages := root + "/lib/python3.12/site-packages/nvidia"
	for _, folder := range []string{packages + "/cu13/lib", packages + "/cublas/lib", conda + "/lib"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	env = map[string]string{"VIRTUAL_ENV": root, "CONDA_PREFIX": conda}
	got := places(getenv)
	if got[0] != (place{}) {
		t.Errorf("the loader is not first: %v", got)
	}
	last := 0
	for _, want := range []place{
		{packages + "/cu13/lib", packages + "/cu13/lib"},
		{packages + "/cublas/lib", packages + "/cusolver/lib"},
		{conda + "/lib", conda + "/lib"},
	} {
		i := slices.Index(got, want)
		if i <= last {
			t.Errorf("%v is number %d of %v", want, i, got)
		}
		last = i
	}
}
