package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/plugin/internal/proctest"
)

// A host on another version of Arrow, with package protocol and a Flight client
// of its own, gets the same edges to the last bit.
func TestArrow18(t *testing.T) {
	if os.Getenv("GLADFLOW_LONG") == "" {
		t.Skip("builds a module of its own; set GLADFLOW_LONG=1 to run it")
	}
	const folder = "testdata/arrow18"
	if text, err := exec.Command("go", "mod", "download", "-C", folder).CombinedOutput(); err != nil {
		if os.Getenv("GLADFLOW_CI") != "" {
			t.Fatalf("the modules of %s cannot be downloaded: %v\n%s", folder, err, text)
		}
		t.Skipf("the modules of %s cannot be downloaded: %v\n%s", folder, err, text)
	}
	host := filepath.Join(t.TempDir(), "arrow18")
	if text, err := exec.Command("go", "build", "-C", folder, "-o", host, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want, err := edges(launch(t, Config{}).Exchange(t.Context(), bcd, tableOf(t, 60, 5)))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), host, proctest.Self(t))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	lines := 0
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); lines++ {
		var got []edge
		if err := json.Unmarshal(scan.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", scan.Text(), err)
		}
		if len(got) != 10 || !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}
	}
	if lines != 4 {
		t.Errorf("%d tables of edges, want 4:\n%s", lines, out)
	}
}
