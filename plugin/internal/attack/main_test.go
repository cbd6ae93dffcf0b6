package attack

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/internal/built"
)

func TestMain(m *testing.M) {
	if underRace && !whole() {
		fmt.Println("the binary is not watched for races: nothing is attacked")
		return
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// whole says that all of the suite is wanted: make attack.
func whole() bool { return os.Getenv("GLADFLOW_ATTACK") != "" }

// times is how often something is done: few in go test, many in make attack.
func times(few, many int) int {
	if whole() {
		return many
	}
	return few
}

// random is a source from SEED, or from the time; the test says which.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED is %q, and must be a number", text)
		}
	}
	t.Logf("SEED=%d", seed)
	h := fnv.New64a()
	fmt.Fprint(h, t.Name())
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
}

// eventually waits until f is true, and fails after limit.
func eventually(t *testing.T, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("after %v: %s", limit, what)
		}
	}
}

// soon is a context of a time that no call here should need.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
