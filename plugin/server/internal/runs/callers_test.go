package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// finding is work that finds as many edges as the samples of the job say.
func finding(_ context.Context, j job.Job, h recovery.Host) (*job.Result, error) {
	h.Progress(progress.Update{Stage: progress.Reading, Done: true})
	if j.Samples == 0 {
		return &job.Result{}, nil
	}
	edges := output.Table{Columns: arrowio.EdgeColumns(make([]arrowio.Edge, j.Samples))}
	return &job.Result{}, h.Solved(recovery.Network{Result: job.SolverResult{Name: "bcd"}, Tables: map[string]output.Table{recovery.TableEdges: edges}})
}

// registryOf has limits and work, and no quota that limits does not name.
func registryOf(t *testing.T, l protocol.Limits, work workFunc) *Registry {
	t.Helper()
	l.ResultSeconds = 60
	if l.ConcurrentRuns == 0 {
		l.ConcurrentRuns = 8
	}
	g := New(Config{Limits: l, Logger: hclog.NewNullLogger(), Work: work})
	t.Cleanup(g.Close)
	return g
}

// done is a run of a caller with results of so many edges, which has ended.
func done(t *testing.T, g *Registry, c Caller, edges int) (*Run, error) {
	t.Helper()
	r, err := g.Start(t.Context(), Request{Caller: c, Job: job.Job{Solvers: []string{"bcd"}, Samples: edges}, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.WaitEnd()
}

// mustDone is done that does not fail.
func mustDone(t *testing.T, g *Registry, c Caller, edges int) *Run {
	t.Helper()
	r, err := done(t, g, c, edges)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unitBytes is a number of edges, and the memory that the results of a run with so
// many take.
func unitBytes(t *testing.T) (edges int, bytes int64) {
	t.Helper()
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 30}, finding)
	const unit = 1000
	mustDone(t, g, "", unit)
	_, _, bytes = g.Stats()
	if bytes <= 0 {
		t.Fatal("results take no memory")
	}
	return unit, bytes
}

func kept(g *Registry, runs ...*Run) (list []bool) {
	for _, r := range runs {
		_, err := g.Find(r.caller, r.id)
		list = append(list, err == nil)
	}
	return list
}

// To others a run does not exist, in the very words.
func TestRunsBelongToTheirCallers(t *testing.T) {
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 20}, finding)
	r := mustDone(t, g, "alice", 1)
	if found, err := g.Find("alice", r.id); err != nil || found != r {
		t.Errorf("its own caller: %v", err)
	}
	for _, c := range []Caller{"bob", "", "Alice", "alice "} {
		_, err := g.Find(c, r.id)
		_, missing := g.Find(c, "NOSUCHRUN")
		got, want := protocol.FaultOf(err), protocol.FaultOf(missing)
		if got == nil || got.StatusCode() != codes.NotFound || strings.ReplaceAll(got.Message, r.id, "NOSUCHRUN") != want.Message || got.Reason != want.Reason {
			t.Errorf("%q is told %v, and of no run %v", c, err, missing)
		}
		if list := g.List(c); len(list) != 0 {
			t.Errorf("%q lists %d runs", c, len(list))
		}
	}
	g.SharedRuns = true
	if _, err := g.Find("bob", r.id); err != nil || len(g.List("")) != 1 {
		t.Errorf("shared: %v", err)
	}
}

func TestRunsPerCaller(t *testing.T) {
	proceed := make(chan struct{})
	g := registryOf(t, protocol.Limits{ConcurrentRuns: 5, RunsPerCaller: 2, ResultBytes: 1 << 20}, solved(proceed, 1))
	request := func(c Caller) Request {
		return Request{Caller: c, Job: job.Job{Solvers: []string{"bcd"}}, Detached: true}
	}
	var first *Run
	for _, c := range []Caller{"alice", "alice", "bob", "bob", "carol"} {
		r, err := g.Start(t.Context(), request(c))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		}
	}
	for c, word := range map[Caller]string{"alice": "raise runs_per_caller", "carol": "5 runs are at work"} {
		_, err := g.Start(t.Context(), request(c))
		if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.ResourceExhausted || f.Reason != protocol.ReasonLimit || !strings.Contains(f.Message, word) {
			t.Errorf("one more of %s: %v", c, err)
		}
	}
	// A run that was forgotten at work keeps its slot until it has ended.
	g.Forget(first)
	if _, err := g.Start(t.Context(), request("alice")); err == nil {
		t.Error("a forgotten run has left its slot before its end")
	}
	close(proceed)
	if err := g.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for c, a := range g.accounts {
		if a.running != 0 {
			t.Errorf("%s has %d runs at work after the end of all", c, a.running)
		}
	}
}

// No trace is left of callers whose runs are gone, however they went.
func TestAccountsAreLeftByTheirCallers(t *testing.T) {
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 20, UploadsPerCaller: 1, RunsPerCaller: 1}, finding)
	for i := range 100 {
		c := Caller(fmt.Sprint(i))
		u, err := g.BeginUpload(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.BeginUpload(c); protocol.FaultOf(err) == nil || !strings.Contains(err.Error(), "uploads_per_caller") {
			t.Errorf("a second upload: %v", err)
		}
		u.End()
		g.Forget(mustDone(t, g, c, i%3))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.accounts) != 0 || g.bytes != 0 {
		t.Errorf("%d bytes, accounts %v", g.bytes, g.accounts)
	}
}

// A caller's results make room for its own.
func TestResultsPerCaller(t *testing.T) {
	n, bytes := unitBytes(t)
	g := registryOf(t, protocol.Limits{ResultBytes: 10*bytes + 10, ResultBytesPerCaller: 3*bytes + 3}, finding)
	others := []*Run{mustDone(t, g, "bob", n), mustDone(t, g, "bob", n)}
	empty := mustDone(t, g, "alice", 0) // whose end would give no room
	var own []*Run
	for range 5 {
		own = append(own, mustDone(t, g, "alice", n))
	}
	if got := kept(g, own...); !slices.Equal(got, []bool{false, false, true, true, true}) {
		t.Errorf("of alice's runs are kept %v", got)
	}
	if got := kept(g, append(others, empty)...); !slices.Equal(got, []bool{true, true, true}) {
		t.Errorf("of bob's runs and the empty one are kept %v", got)
	}
	// What can never fit is refused and costs no other run.
	r, err := done(t, g, "alice", 4*n)
	if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.ResourceExhausted || f.Reason != protocol.ReasonLimit || !strings.Contains(f.Message, "raise result_bytes_per_caller") {
		t.Errorf("results beyond the quota: %v", err)
	}
	if got := kept(g, append(own[2:], r)...); !slices.Equal(got, []bool{true, true, true, true}) {
		t.Errorf("after the refusal are kept %v", got)
	}
}

// When the memory of all is full, who holds the most makes room: nobody loses
// results to one that holds more, and nobody keeps others from having any.
func TestWhoHoldsTheMostMakesRoom(t *testing.T) {
	n, bytes := unitBytes(t)
	g := registryOf(t, protocol.Limits{ResultBytes: 6*bytes + 6}, finding)
	bob := []*Run{mustDone(t, g, "bob", n), mustDone(t, g, "bob", n)}
	var alice []*Run
	for range 20 {
		alice = append(alice, mustDone(t, g, "alice", n))
	}
	if got := kept(g, bob...); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("alice's flood leaves of bob's runs %v", got)
	}
	if got := kept(g, alice[15:]...); !slices.Equal(got, []bool{false, true, true, true, true}) {
		t.Errorf("of alice's runs are kept %v", got)
	}
	// A newcomer finds room at alice's, not at bob's.
	carol := mustDone(t, g, "carol", n)
	if got := kept(g, carol, bob[0], bob[1], alice[16], alice[17]); !slices.Equal(got, []bool{true, true, true, false, true}) {
		t.Errorf("after carol's run are kept %v", got)
	}
	// She has no room for more than who holds the most.
	_, err := done(t, g, "carol", 5*n)
	if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.ResourceExhausted || !strings.Contains(f.Message, "callers that hold less") {
		t.Errorf("results larger than anybody's: %v", err)
	}
	if got := kept(g, carol, bob[0], bob[1], alice[17], alice[18], alice[19]); slices.Contains(got, false) {
		t.Errorf("after the refusal are kept %v", got)
	}
}

// Runs without results count as well: a thousand of one caller do not push out the
// run of another.
func TestKeptRunsOfCallers(t *testing.T) {
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 30}, finding)
	bob := mustDone(t, g, "bob", 1)
	var last *Run
	for range maxEnded + 50 {
		last = mustDone(t, g, "alice", 0)
	}
	if got := kept(g, bob, last); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("kept are %v", got)
	}
	if _, ended, _ := g.Stats(); ended != maxEnded {
		t.Errorf("%d runs are kept, want %d", ended, maxEnded)
	}
}

// As many callers as runs are kept: the oldest goes, and not the one that has ended
// just now.
func TestKeptRunsOfManyCallers(t *testing.T) {
	g := registryOf(t, protocol.Limits{ResultBytes: 1 << 30}, finding)
	var all []*Run
	for i := range maxEnded + 2 {
		all = append(all, mustDone(t, g, Caller(fmt.Sprint(i)), 0))
	}
	if got := kept(g, all[0], all[1], all[2], all[len(all)-1]); !slices.Equal(got, []bool{false, false, true, true}) {
		t.Errorf("kept are %v", got)
	}
}
