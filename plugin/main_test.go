package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/server"
)

// The test binary is the plugin, and is in $PATH as gladflow, where the example
// expects it.
func TestMain(m *testing.M) {
	proctest.BeThePlugin(func(ctx context.Context) error { return server.Plugin(ctx, server.Config{}) })
	if os.Getenv(hostLauncher) != "" {
		os.Exit(beLauncher())
	}
	folder, err := inPath("gladflow")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(folder)
		os.Exit(code)
	}))
}

// inPath puts the test binary in $PATH under a name, in the folder that it
// returns.
func inPath(name string) (folder string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if folder, err = os.MkdirTemp("", "gladflow-test"); err != nil {
		return "", err
	}
	if err := os.Symlink(self, filepath.Join(folder, name)); err != nil {
		return "", err
	}
	return folder, os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}
