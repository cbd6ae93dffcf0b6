//go:build linux && (amd64 || arm64)

package emulator

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Control changes and reads the emulated driver of this process.
type Control struct{ set, count, complaint uintptr }

// Open returns the control of the driver in a folder that [Build] made. The driver's state
// is the process's: opening it again yields the same. Another folder's driver has a state of its
// own.
func Open(t testing.TB, folder string) *Control {
	t.Helper()
	library, err := purego.Dlopen(filepath.Join(folder, coreName(filepath.Base(folder))), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	c := new(Control)
	for _, s := range []struct {
		name    string
		address *uintptr
	}{{"emulator_set", &c.set}, {"emulator_count", &c.count}, {"emulator_complaint", &c.complaint}} {
		if *s.address, err = purego.Dlsym(library, s.name); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Set changes a setting until the test ends, which gives it back its default: ""
// stands for that. Names are those of the environment variables, see the package's
// comment. Count and size of devices are looked at by cuInit.
func (c *Control) Set(t testing.TB, name, value string) {
	t.Helper()
	if !c.change(name, value) {
		t.Fatalf("the emulated driver has no setting %s", name)
	}
	if value != "" {
		t.Cleanup(func() { c.change(name, "") })
	}
}

func (c *Control) change(name, value string) bool {
	n, v := append([]byte(name), 0), append([]byte(value), 0)
	r, _, _ := purego.SyscallN(c.set, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&v[0])))
	return byte(r) != 0
}

// Count returns a counter of the report, 0 if it does not exist.
func (c *Control) Count(name string) int {
	n := append([]byte(name), 0)
	r, _, _ := purego.SyscallN(c.count, uintptr(unsafe.Pointer(&n[0])))
	return int(r)
}

// Complaint is the last mistake that the driver complained of, "" if there was none.
func (c *Control) Complaint() string {
	r, _, _ := purego.SyscallN(c.complaint)
	p := *(*unsafe.Pointer)(unsafe.Pointer(&r)) // vet would take r for a Go pointer in an integer
	var b []byte
	for ; *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
		b = append(b, *(*byte)(p))
	}
	return string(b)
}

// Living are the counters of what has to be given back.
var Living = []string{
	"allocations", "pinned", "streams", "events", "modules", "contexts", "primary_references",
	"cublas_handles", "cusolver_handles", "cusolver_parameters",
}

// CheckNothingLeft fails the test, when it ends, if it leaves behind more than it found, or
// if the driver complained of something.
func (c *Control) CheckNothingLeft(t testing.TB) {
	t.Helper()
	names := append([]string{"complaints", "bad_frees"}, Living...)
	before := make(map[string]int)
	for _, name := range names {
		before[name] = c.Count(name)
	}
	t.Cleanup(func() {
		for _, name := range names {
			if now := c.Count(name); now != before[name] {
				t.Errorf("the emulated driver counts %d %s more than before the test (%s)", now-before[name], name, c.Complaint())
			}
		}
	})
}

// ReadReport reads a file that EMULATOR_REPORT names.
func ReadReport(file string) (map[string]int, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts := make(map[string]int)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 {
			if counts[fields[0]], err = strconv.Atoi(fields[1]); err != nil {
				return nil, err
			}
		}
	}
	return counts, lines.Err()
}
