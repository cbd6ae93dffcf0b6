package plugin

import (
	"os/exec"
	"strings"
	"testing"
)

// What packages link decides how large a host is, which versions of Arrow it may
// have, and whether a room can change without the others.
func TestDependencies(t *testing.T) {
	const module = "github.com/gladflow/gladflow/"
	clouds := []string{"gocloud.dev", "github.com/aws/", "github.com/Azure/", "cloud.google.com/", "google.golang.org/api/", "golang.org/x/oauth2", module + "arrowio/store"}
	solvers := []string{module + "solver/glasso", module + "solver/dense", module + "solver/covariance", "gonum.org"}
	files := []string{"arrow/go/v15/parquet", "arrow/go/v15/arrow/csv", "arrow/go/v15/arrow/compute"}
	documents := []string{"jsonschema", "gonum.org/v1/plot"}
	for _, c := range []struct {
		of        string
		has       string // a package that go list must have listed
		forbidden [][]string
	}{
		// A host links what speaks to a service, and the documents.
		{"plugin", module + "pipelines/job", [][]string{clouds, solvers, files, documents, {module + "plugin/server"}}},
		// A process that holds the Flight packages of two versions of Arrow
		// panics at its start: the package for hosts on any version has none.
		{"plugin/protocol", "github.com/hashicorp/go-plugin", [][]string{clouds, solvers, documents, {"arrow"}}},
		{"pipelines/job", "github.com/goccy/go-yaml", [][]string{clouds, solvers, documents, {"apache/arrow", "grpc", "net/http", module + "solver/glad/train"}}},
		{"arrowio/uri", "regexp", [][]string{{"arrow/", module + "arrowio/batch", module + "pipelines", module + "plugin", "net/"}}},
		{"arrowio/batch", "github.com/apache/arrow/go/v15/arrow/ipc", [][]string{clouds, solvers, files, {"arrow/flight", "grpc", "net/http"}}},
		// Imports run downward: plugin, pipelines, then arrowio and solver.
		{"arrowio", "github.com/apache/arrow/go/v15/parquet", [][]string{clouds, {module + "solver", module + "pipelines", module + "plugin"}}},
		{"solver/...", "gonum.org/v1/gonum/mat", [][]string{clouds, {"arrow", module + "pipelines", module + "plugin"}}},
		{"pipelines/...", module + "solver/glad", [][]string{clouds, {module + "plugin"}}},
	} {
		out, err := exec.Command("go", "list", "-deps", module+c.of).CombinedOutput()
		if err != nil {
			t.Fatalf("go list of %s: %v\n%s", c.of, err, out)
		}
		if !strings.Contains(string(out), c.has+"\n") {
			t.Errorf("%s does not depend on %s, or go list has not listed it", c.of, c.has)
		}
		for pkg := range strings.FieldsSeq(string(out)) {
			for _, list := range c.forbidden {
				for _, part := range list {
					if strings.Contains(pkg, part) {
						t.Errorf("%s depends on %s", c.of, pkg)
					}
				}
			}
		}
	}
}
