package runs

import (
	"context"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// What a solver finds after its run was cancelled and left to end in the background
// is not kept: it takes no memory, and nobody's results make room for it, those of the
// run itself among them.
func TestTablesAfterTheEndOfARunTakeNothing(t *testing.T) {
	edges, bytes := unitBytes(t)
	for name, room := range map[string]int64{"room for both": 3 * bytes, "room for one": bytes + bytes/2} {
		t.Run(name, func(t *testing.T) {
			found := make(chan struct{})
			release := make(chan struct{})
			solved := make(chan error, 1)
			g := registryOf(t, protocol.Limits{ResultBytes: room, MemoryBytes: memory.Process + 4*bytes}, func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
				h.Progress(progress.Update{Stage: progress.Reading, Done: true})
				find := func(solver string) error {
					if err := h.Memory.Reserve(bytes); err != nil {
						return err
					}
					table := output.Table{Columns: arrowio.EdgeColumns(make([]arrowio.Edge, edges))}
					return h.Solved(recovery.Network{Result: job.SolverResult{Name: solver}, Tables: map[string]output.Table{recovery.TableEdges: table}, Reserved: bytes})
				}
				if err := find("bcd"); err != nil {
					t.Error(err)
				}
				close(found)
				<-release
				solved <- find("glad")
				return &job.Result{}, nil
			})
			r, err := g.Start(t.Context(), Request{Caller: "alice", Job: job.Job{Solvers: []string{"bcd", "glad"}}, Detached: true})
			if err != nil {
				t.Fatal(err)
			}
			<-found
			r.Cancel(context.Canceled)
			<-r.done
			close(release)
			if err := <-solved; err == nil {
				t.Error("what is found after the end is taken")
			}
			if !kept(g, r)[0] {
				t.Error("what was found before the end was forgotten for what was found after it")
			}
			g.Forget(r)
			// The slot of the run is given back at the very end of its work.
			for running := 1; running > 0; time.Sleep(time.Millisecond) {
				running, _, _ = g.Stats()
			}
			g.mu.Lock()
			account := g.accounts["alice"]
			g.mu.Unlock()
			if _, _, held := g.Stats(); held != 0 || g.Reserved() != 0 || account.bytes != 0 {
				t.Errorf("when the run is forgotten, results take %d bytes, %d are reserved, and its caller has %d", held, g.Reserved(), account.bytes)
			}
		})
	}
}
