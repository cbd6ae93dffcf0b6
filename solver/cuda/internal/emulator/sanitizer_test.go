//go:build linux && (amd64 || arm64)

package emulator

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// kernelOf runs one kernel of the sanitized build.
func kernelOf(t *testing.T, kernel string, grid, block int, arguments func(*device) []any) {
	d := loadFrom(t, Build(t, Kernels(testKernels), Sanitized()))
	d.must("cuInit", 0)
	d.retain(0)
	if code := d.launch(d.function(d.module(), kernel), 0, grid, 1, block, arguments(d)...); code != 0 {
		t.Errorf("status %d (%s)", code, d.Complaint())
	}
	d.must("cuCtxSynchronize")
}

func TestSanitized(t *testing.T) {
	runs := []struct {
		name, report string
		run          func(t *testing.T)
	}{
		{"Good", "", func(t *testing.T) {
			kernelOf(t, "partial_sums", 3, 128, func(d *device) []any { return []any{d.alloc(3), d.put(ramp(1000)...), 1000} })
			kernelOf(t, "mirror_tiles", 9, 256, func(d *device) []any { return []any{d.put(ramp(45 * 45)...), 45} })
		}},
		{"Write", "AddressSanitizer: use-after-poison", func(t *testing.T) {
			kernelOf(t, "write_far", 1, 1, func(d *device) []any { return []any{d.alloc(10), 10} })
		}},
		{"Read", "AddressSanitizer: heap-buffer-overflow", func(t *testing.T) {
			kernelOf(t, "read_past", 1, 64, func(d *device) []any { return []any{d.alloc(1), d.alloc(32), 32} })
		}},
		{"Shared", "index 128 out of bounds for type", func(t *testing.T) {
			kernelOf(t, "partial_sums", 1, 256, func(d *device) []any { return []any{d.alloc(1), d.put(ramp(1000)...), 1000} })
		}},
		{"Undefined", "runtime error: shift exponent 64 is too large", func(t *testing.T) {
			kernelOf(t, "shift_far", 1, 1, func(d *device) []any { return []any{d.alloc(1), 64} })
		}},
	}
	if name := os.Getenv(child); name != "" {
		for _, r := range runs {
			if r.name == name {
				r.run(t)
			}
		}
		return
	}
	Build(t, Kernels(testKernels), Sanitized()) // not in the child: the compiler would run with its settings
	environment := Sanitizers(t)
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			text, err := childProcess(t, "TestSanitized", append(environment, child+"="+r.name)...)
			if r.report == "" {
				if err != nil {
					t.Errorf("%v\n%s", err, text)
				}
				return
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 66 || !strings.Contains(string(text), r.report) {
				t.Errorf("%v, want exit code 66 and %q\n%s", err, r.report, text)
			}
		})
	}
}
