//go:build cuda

package cuda

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// The first kernel of an engine and the first sessions, which all load modules, do not wait
// for each other without end.
func TestFirstUsesSideBySide(t *testing.T) {
	p := sampled(rand.New(rand.NewPCG(1, 1)), 6, 20)
	m := model(t, "general")
	for range 20 {
		b := opened(t)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := (glad.Solver{Model: m, Backend: b}).Solve(t.Context(), p); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if !b.Engine(nil).Cholesky(260, dense.Identity(260).Raw()) {
				t.Error("the identity has no factor")
			}
		})
		done := make(chan struct{})
		go func() {
			all.Wait()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("they hang")
		}
	}
}
