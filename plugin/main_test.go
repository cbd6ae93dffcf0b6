package plugin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if folder, err := scratch(); err == nil {
			os.RemoveAll(folder)
		}
		os.Exit(code)
	}))
}

// scratch is a folder for what the tests build.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gladflow") })

// Binary is gladflow as it is now, built once.
var Binary = sync.OnceValues(func() (string, error) {
	folder, err := scratch()
	if err != nil {
		return "", err
	}
	return build(".", "./gladflow", filepath.Join(folder, "gladflow"))
})

// build builds a command of the module in a folder.
func build(folder, pkg, out string) (string, error) {
	cmd := exec.Command("go", "build", "-C", folder, "-o", out, pkg)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

func binary(t testing.TB) string {
	t.Helper()
	path, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
