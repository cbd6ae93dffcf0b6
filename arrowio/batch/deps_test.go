package batch

import (
	"os/exec"
	"strings"
	"testing"
)

// A host streams tables without what reads files, solves or opens clouds.
func TestLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "arrow/ipc\n") {
		t.Fatalf("go list has listed no dependencies:\n%s", out)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"/parquet", "arrow/csv", "arrow/compute", "arrow/flight", "net/http", "gocloud.dev", "aws", "Azure", "grpc"} {
			if strings.Contains(pkg, heavy) {
				t.Errorf("the package depends on %s", pkg)
			}
		}
		if own, _, _ := strings.Cut(pkg, "/arrowio/batch"); own != "github.com/gladflow/gladflow" && strings.HasPrefix(pkg, "github.com/gladflow/") {
			t.Errorf("the package depends on %s", pkg)
		}
	}
}
