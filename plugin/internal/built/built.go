// Package built has the gladflow binary for tests that start it. A test process
// builds it once, as it is now, and calls Remove at its end.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

const command = "github.com/gladflow/gladflow/plugin/gladflow"

var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gladflow-test") })

var binary = sync.OnceValues(func() (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gladflow")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path, Build(".", command, path)
})

// Build builds a command of the module that a folder belongs to.
func Build(in, pkg, out string) error {
	if text, err := exec.Command("go", "build", "-C", in, "-o", out, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// Binary returns the path of the binary.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// InPath puts the folder of the binary in front of $PATH, where a user would
// have installed it.
func InPath() error {
	path, err := binary()
	if err != nil {
		return err
	}
	return os.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Remove removes everything. It is the last thing a test process does.
func Remove() {
	if dir, err := folder(); err == nil {
		os.RemoveAll(dir)
	}
}
