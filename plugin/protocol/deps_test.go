package protocol

import (
	"os/exec"
	"strings"
	"testing"
)

// A process that holds the Flight packages of two versions of Arrow panics at
// its start, so the package for hosts on any version has none.
func TestNoArrow(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "hashicorp/go-plugin") {
		t.Fatalf("go list has listed no dependencies:\n%s", out)
	}
	for _, pkg := range strings.Fields(string(out)) {
		if strings.Contains(pkg, "arrow") {
			t.Errorf("the package depends on %s", pkg)
		}
	}
}
