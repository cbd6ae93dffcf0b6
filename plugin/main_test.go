package plugin

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/gladflow/gladflow/plugin/internal/built"
)

// The binary is in $PATH, where the example expects it.
func TestMain(m *testing.M) {
	if err := built.InPath(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		built.Remove()
		os.Exit(code)
	}))
}
