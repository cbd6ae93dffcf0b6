package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gladflow/gladflow/plugin/plugintest"
)

// builder builds the binary once for all tests that start it.
type builder struct {
	once   sync.Once
	folder string
	err    error
}

var built builder

// TestMain removes the binary. Started again by TestKillHost it is a host.
func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) != "" {
		os.Exit(beHost())
	}
	code := m.Run()
	if built.folder != "" {
		os.RemoveAll(built.folder)
	}
	os.Exit(code)
}

// binary returns the path of the binary, freshly built.
func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "gladflow-test"); built.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(built.folder, "gladflow"), ".").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.folder, "gladflow")
}

// The binary is a plugin as package protocol has it, with mutual TLS and
// without.
func TestConformance(t *testing.T) {
	path := binary(t)
	t.Run("mutual TLS", func(t *testing.T) { plugintest.Run(t, path) })
	t.Run("no TLS", func(t *testing.T) { plugintest.Run(t, path, plugintest.WithoutMTLS()) })
}
