package kernels

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestPTXIsFresh(t *testing.T) {
	digest, err := Digest()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(PTX, "\n")
	if want := "// SHA-256 of the sources: " + digest; first != want {
		t.Errorf("kernels.ptx begins with %q, want %q; run generate.py", first, want)
	}
}

// The table is what the module has.
func TestTable(t *testing.T) {
	entry := regexp.MustCompile(`(?s)\.entry (\w+)\((.*?)\)\n\.maxntid (\d+), 1, 1\n(.*?)\n}\n`)
	shared := regexp.MustCompile(`\.shared \.align \d+ \.b8 (\w+)\[(\d+)\];`)
	sizes := map[string]int{}
	for _, m := range shared.FindAllStringSubmatch(PTX, -1) {
		var n int
		fmt.Sscan(m[2], &n)
		sizes[m[1]] = n
	}
	seen := map[Kernel]bool{}
	for _, m := range entry.FindAllStringSubmatch(PTX, -1) {
		k := Kernel(m[1])
		p, ok := table[k]
		if !ok {
			t.Errorf("%s is in kernels.ptx but not in the table", k)
			continue
		}
		seen[k] = true
		n := strings.Count(m[2], ".param .u64") + strings.Count(m[2], ".param .f64")
		if n != p.arguments || n != strings.Count(m[2], ".param") {
			t.Errorf("%s has %d arguments of 8 bytes, the table has %d", k, n, p.arguments)
		}
		if m[3] != fmt.Sprint(p.threads) {
			t.Errorf("%s has %s threads, the table has %d", k, m[3], p.threads)
		}
		var bytes int
		for name, n := range sizes {
			if strings.Contains(m[4], name) {
				bytes += n
			}
		}
		if bytes != p.shared {
			t.Errorf("%s has %d bytes of shared memory, the table has %d", k, bytes, p.shared)
		}
	}
	for k := range table {
		if !seen[k] {
			t.Errorf("%s is in the table but not in kernels.ptx", k)
		}
	}
	if want := fmt.Sprintf("\n.visible .const .align 8 .b8 %s[%d]", Weights, WeightsBytes); !strings.Contains(PTX, want) {
		t.Errorf("kernels.ptx does not have %q", want)
	}
	if !strings.Contains(PTX, ".version 8.0\n.target sm_80\n") {
		t.Error("kernels.ptx is not of version 8.0 for compute capability 8.0")
	}
}

func TestBlocks(t *testing.T) {
	for k := range table {
		for _, n := range []int64{1, 40_000, 1 << 20} {
			if k.Shared() > 48<<10 || k.Blocks(n) < 1 || int64(k.Blocks(n)) > 1<<31-1 {
				t.Errorf("%s: %d blocks for %d, %d bytes of shared memory", k, k.Blocks(n), n, k.Shared())
			}
		}
	}
	if got := Tiles(33); got != 3 {
		t.Errorf("33 rows have %d tiles on and above the diagonal, want 3", got)
	}
}
