package arrowio

import (
	"os/exec"
	"strings"
	"testing"
)

// Who reads files links no cloud: those are in package store.
func TestNoCloud(t *testing.T) {
	list := func(args ...string) []string {
		out, err := exec.Command("go", append([]string{"list"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, out)
		}
		return strings.Fields(string(out))
	}
	deps := list("-deps", ".")
	if len(deps) < 100 {
		t.Fatalf("go list has listed %d packages", len(deps))
	}
	for _, pkg := range deps {
		for _, cloud := range []string{"gocloud.dev", "github.com/aws/", "github.com/Azure/", "cloud.google.com/", "google.golang.org/api/", "golang.org/x/oauth2", "/arrowio/store"} {
			if strings.Contains(pkg, cloud) {
				t.Errorf("the package depends on %s", pkg)
			}
		}
	}
	for _, pkg := range list("-f", `{{join .Imports "\n"}}`, ".") {
		if pkg == "net/http" {
			t.Error("the package imports net/http")
		}
	}
}
