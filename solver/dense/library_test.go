//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
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
