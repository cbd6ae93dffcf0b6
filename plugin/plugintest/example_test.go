package plugintest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/plugintest"
)

// A port's test is a function of package testing that names the binary.
func ExampleRun() {
	testConformance := func(t *testing.T) {
		plugintest.Run(t, "path/to/the/binary", plugintest.WithEnv("PORT_LOG=debug"), plugintest.StopWithin(time.Second))
	}
	_ = testConformance // TestConformance in a file that ends in _test.go
}

// A host's own test looks for what its plugin has left behind.
func ExampleLeftovers() {
	temp, err := os.MkdirTemp("", "host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(temp)
	// The host was started with TMPDIR=temp, and has ended. Its socket is still there.
	if err := os.WriteFile(filepath.Join(temp, "plugin.sock"), nil, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	left := plugintest.Leftovers(0, temp, "")
	fmt.Println(len(left), "thing is left")
	// Output: 1 thing is left
}
