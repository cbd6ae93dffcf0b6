//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
)

func TestDescribe(t *testing.T) {
	for config, want := range map[string]string{
		// Debian 12, openblas_get_config of libopenblas0-pthread.
		"OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64": "OpenBLAS 0.3.21 Zen",
		"OpenBLAS 0.3.26.dev": "OpenBLAS 0.3.26.dev",
		"OpenBLAS":            "OpenBLAS",
		"":                    "OpenBLAS",
	} {
		if got := describe(config); got != want {
			t.Errorf("%q is described as %q, want %q", config, got, want)
		}
	}
}

func TestThreadsOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		openblas, omp string
		want          int
	}{
		{"", "", math.MaxInt32}, {"3", "5", 3}, {"", "5", 5}, {"0", "5", 5}, {"-2", "", math.MaxInt32}, {"many", "1", 1},
	} {
		got := threadsOf(func(name string) string {
			return map[string]string{"OPENBLAS_NUM_THREADS": c.openblas, "OMP_NUM_THREADS": c.omp}[name]
		})
		if got != c.want {
			t.Errorf("%+v: %d threads", c, got)
		}
	}
}

func TestUnusableLibrary(t *testing.T) {
	library := "libm.so.6"
	if runtime.GOOS == "darwin" {
		library = "/usr/lib/libSystem.B.dylib"
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Skip(err)
	}
	if _, err := bind(handle, library); err == nil || !strings.Contains(err.Error(), "unusable: it has no dgemm_") {
		t.Errorf("%s: %v", library, err)
	}
}
