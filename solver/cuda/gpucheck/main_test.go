//go:build cuda

package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/cuda/cudatest"
)

// setup makes the emulated driver the one that is found, which a process opens once.
func setup(t *testing.T) {
	t.Helper()
	name, value, _ := strings.Cut(cudatest.Environment(t), "=")
	t.Setenv(name, value)
	t.Setenv("EMULATOR_MEMORY", "1500000000")
}

// All sections pass on the emulated driver, and what is written is in the file too.
func TestQuick(t *testing.T) {
	setup(t)
	file := filepath.Join(t.TempDir(), "tables.md")
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"--quick", "--seed", "7", "--out", file}, &out, &errs)
	t.Log(out.String())
	if code != 0 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if !regexp.MustCompile(`\nPASS [1-9]\d\d, FAIL 0\n$`).MatchString(out.String()) {
		t.Error("it does not end with PASS of at least a hundred checks")
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != out.String() {
		t.Error("the file has something else")
	}
	for _, s := range sections {
		if s.name != "peers" && !strings.Contains(out.String(), "\n## "+titles[s.name]) {
			t.Errorf("there is no table of section %s", s.name)
		}
	}
}

var titles = map[string]string{
	"identity": "identity", "calls": "calls alone", "kernels": "kernels alone", "forward": "forward passes against the CPU",
	"gradients": "gradients against the CPU",
	"samples":   "sums of samples, the host's by ",
	"ceilings":  "ceilings", "times": "times", "faults": "faults",
}

// What is wrong with the command line is told in a sentence.
func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--only", "nothing"}, {"more"}, {"--minutes", "-1"}, {"--nothing"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 2 || errs.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// It ends before its time is over, and says what it left out.
func TestTimeIsOver(t *testing.T) {
	setup(t)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"--minutes", "0.001", "--quick"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "left out: section peers") {
		t.Errorf("exit code %d, %s%s", code, out.String(), errs.String())
	}
}

// A failed check is told, and counts.
func TestFailure(t *testing.T) {
	var out bytes.Buffer
	r := newReport([]io.Writer{&out})
	r.try("a step", func() { panic(os.ErrNotExist) })
	r.verdict(false, "a number is off by %d", 3)
	r.verdict(true, "")
	if code := r.end(); code != 1 || !strings.Contains(out.String(), "failed: a number is off by 3") || !strings.HasSuffix(out.String(), "PASS 1, FAIL 2\n") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

// Sums that differ anywhere in the upper triangle are told apart, and NaN too; below it
// there is anything.
func TestApartUpper(t *testing.T) {
	want := []float64{4, 1, 99, 9}
	for _, c := range []struct{ i, by, off float64 }{{0, 0.4, 0.1}, {1, 0.3, 0.05}, {2, 7, 0}, {3, 0.9, 0.1}} {
		got := slices.Clone(want)
		got[int(c.i)] += c.by
		if e := apartUpper(got, want, 2); math.Abs(e-c.off) > 1e-12 {
			t.Errorf("entry %v is off by %v, told as %v", c.i, c.by, e)
		}
	}
	if e := apartUpper([]float64{4, math.NaN(), 99, 9}, want, 2); !math.IsNaN(e) {
		t.Errorf("NaN is off by %v", e)
	}
}
