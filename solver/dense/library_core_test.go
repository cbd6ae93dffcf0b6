//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBetterCore(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct {
		chosen string
		avx512 bool
		getenv func(string) string
		want   string
	}{
		{"Haswell", true, none, "SkylakeX"},
		{"Zen", true, none, "SkylakeX"},
		{"Haswell", false, none, ""},
		{"SkylakeX", true, none, ""},
		{"Cooperlake", true, none, ""},
		{"SapphireRapids", true, none, ""},
		{"one of next year", true, none, ""},
		{"", true, none, ""},
		{"Haswell", true, func(string) string { return "Haswell" }, ""}, // as the user says
	} {
		if got := betterCore(c.chosen, c.avx512, c.getenv); got != c.want {
			t.Errorf("%q: %q, want %q", c.chosen, got, c.want)
		}
	}
}

// TestReopen opens, in a process of its own, a library that has been told to choose lesser kernels
// than the processor has, in the environment that only C sees.
func TestReopen(t *testing.T) {
	if !haveAVX512() {
		t.Skip("the processor has no AVX-512")
	}
	const child = "GLADFLOW_TEST_REOPEN"
	if os.Getenv(child) == "" {
		if e, err := findOpenBLAS(); err != nil || !strings.Contains(e.Name(), " SkylakeX") && !strings.Contains(e.Name(), " Cooperlake") && !strings.Contains(e.Name(), " SapphireRapids") {
			t.Skip("no OpenBLAS with kernels for AVX-512")
		}
		for _, told := range []string{"", "Haswell"} {
			command := exec.Command(os.Args[0], "-test.run=^TestReopen$", "-test.v")
			command.Env = append(os.Environ(), child+"=1", coreVariable+"="+told)
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := "engine: OpenBLAS"
			if !strings.Contains(string(out), want) {
				t.Fatalf("no engine in\n%s", out)
			}
			_, name, _ := strings.Cut(string(out), want)
			name, _, _ = strings.Cut(name, "\n")
			if haswell := strings.HasSuffix(name, " Haswell"); haswell != (told == "Haswell") {
				t.Errorf("told %q, it is%s", told, name)
			}
		}
		return
	}
	if os.Getenv(coreVariable) == "" {
		setenv(coreVariable, "Haswell")
	}
	e, err := findOpenBLAS()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("engine: %s", e.Name())
	a := []float64{2, 0, 0, 3}
	c := make([]float64, 4)
	e.Gemm(false, false, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2)
	if c[0] != 4 || c[3] != 9 {
		t.Errorf("the product is %v", c)
	}
}
