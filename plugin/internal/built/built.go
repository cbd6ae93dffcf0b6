// Package built has the gladflow binary for tests in which a test binary that is
// started again will not do.
package built

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const command = "github.com/gladflow/gladflow/plugin/gladflow"

var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gladflow-test") })

var binary = sync.OnceValues(func() (string, error) {
	if err := readFolders(); err != nil {
		return "", err
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		path := filepath.Join(dir, "gladflow.exe")
		return path, run("go", "build", "-tags", tags, "-o", path, command)
	}
	// go run keeps what it has linked in the build cache, by its content, so test
	// processes share one build, which is never an old one. go build does not.
	path := filepath.Join(dir, "gladflow")
	return path, run("go", "run", "-tags", tags, "-exec", "cp", command, path)
})

func run(name string, args ...string) error {
	if text, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, text)
	}
	return nil
}

// readFolders makes every source file of the module an input of the test, so
// that go test does not repeat a result of another binary from its cache: it
// notes the folders that a test reads.
func readFolders() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return errors.New("the test does not run in a module")
		}
		root = filepath.Dir(root)
	}
	return filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
}

// Binary returns the path of the binary, which is that of the sources as they
// are. Its TestMain calls Remove.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Remove removes the binary. It is the last thing a test process does.
func Remove() {
	if dir, err := folder(); err == nil {
		os.RemoveAll(dir)
	}
}
