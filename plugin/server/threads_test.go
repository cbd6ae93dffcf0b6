package server

import (
	"runtime"
	"testing"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/dense"
)

// The threads of a service are those of its process; by default all.
func TestThreadsOfAService(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := dense.Cores()
	for _, c := range []struct{ given, want int }{{0, before}, {before + 5, before}, {2, 2}, {1, 1}, {3, 1}} {
		s, err := New(Config{Limits: protocol.Limits{Threads: c.given}})
		if err != nil {
			t.Fatal(err)
		}
		if s.limits.Threads != c.want || dense.Cores() != c.want {
			t.Errorf("%d threads: the service says %d, the process has %d; want %d", c.given, s.limits.Threads, dense.Cores(), c.want)
		}
		s.Close()
	}
}
