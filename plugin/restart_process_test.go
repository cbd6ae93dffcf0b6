package plugin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// restarter restarts this test binary, fast and as often as it takes.
func restarter(t *testing.T, temp string, logger hclog.Logger) *Restarter {
	t.Helper()
	r := NewRestarter(RestartConfig{
		Config:   Config{Path: proctest.Self(t), Logger: logger, Env: []string{"TMPDIR=" + temp}},
		MinDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond, Limit: -1,
	})
	t.Cleanup(func() { r.Close() })
	return r
}

func kill(t *testing.T, c *Client) {
	t.Helper()
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// Many callers go on while plugins are killed under them: their calls succeed or are
// Unavailable, each plugin is another process, and nothing is left of any.
func TestRestartAfterKill(t *testing.T) {
	const kills, callers = 8, 4
	temp := shortTemp(t)
	var log logtest.Log
	r := restarter(t, temp, hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Info}))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var wg sync.WaitGroup
	var done, failed atomic.Int64
	for range callers {
		wg.Go(func() {
			for ctx.Err() == nil {
				c, err := r.Client(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				switch _, err := c.Describe(t.Context()); {
				case err == nil:
					done.Add(1)
				case status.Code(err) == codes.Unavailable:
					failed.Add(1)
				default:
					t.Errorf("code %v: %v", status.Code(err), err)
				}
			}
		})
	}
	pids := map[int]bool{}
	for range kills {
		c, err := r.Client(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if pids[c.PID()] {
			t.Errorf("process %d was killed before", c.PID())
		}
		pids[c.PID()] = true
		for before := done.Load(); done.Load() == before && ctx.Err() == nil; { // it is used
			time.Sleep(time.Millisecond)
		}
		kill(t, c)
		proctest.Ends(t, c.PID(), 3*time.Second)
		for !c.process.exited() {
		}
	}
	stop()
	wg.Wait()
	t.Logf("%d calls succeeded, %d failed", done.Load(), failed.Load())
	r.Close()
	if left := inTemp(t, temp); len(left) > 0 {
		t.Errorf("there is left %q", left)
	}
	for _, want := range []string{"the plugin has ended", `how="signal: killed"`, "the plugin was started again"} {
		if n := strings.Count(log.String(), want); n < kills-1 || n > kills {
			t.Errorf("%q is %d times in the log of %d kills:\n%s", want, n, kills, log.String())
		}
	}
}

// A call at work hears that its plugin has died, not that somebody has closed the
// client; and what it waits for itself, such as its samples, keeps nobody else from
// another plugin.
func TestRestartWithCallsAtWork(t *testing.T) {
	r := restarter(t, shortTemp(t), hclog.NewNullLogger())
	first, err := r.Client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := first.Recover(t.Context(), slow, tableOf(t, 40, 60))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, first, run.ID(), protocol.StateRunning)
	over := make(chan error, 2)
	go func() {
		_, err := edges(run.Edges(t.Context(), ""))
		over <- err
	}()
	release := make(chan struct{})
	in := samples(t, 1, nil)
	in.wait = release
	go func() {
		r, err := first.Echo(t.Context(), in)
		if err == nil {
			_, err = drain(r)
		}
		over <- err
	}()
	for in.calls.Load() < 2 { // it waits for samples
		time.Sleep(time.Millisecond)
	}
	kill(t, first)
	proctest.Ends(t, first.PID(), 3*time.Second)
	for !first.process.exited() {
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	second, err := r.Client(ctx)
	if err != nil || second.PID() == first.PID() {
		t.Fatalf("process %d after %d, %v", second.PID(), first.PID(), err)
	}
	if _, err := second.Describe(t.Context()); err != nil {
		t.Error(err)
	}
	// Runs are those of the process that has died: nothing was repeated.
	if runs, err := second.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("the new plugin has the runs %v, %v", runs, err)
	}
	close(release)
	for range 2 {
		if err := <-over; status.Code(err) != codes.Unavailable || errors.Is(err, ErrClosed) {
			t.Errorf("a call at work: %v", err)
		}
	}
	if err := first.Ping(t.Context()); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("a call of the client of the dead plugin: %v", err)
	}
	// A client that was closed by mistake.
	second.Close()
	if third, err := r.Client(t.Context()); err != nil || third.Ping(t.Context()) != nil {
		t.Errorf("after Close of a client: %v", err)
	}
}

// Retry has its call done by another plugin.
func TestRetryAfterKill(t *testing.T) {
	r := restarter(t, shortTemp(t), hclog.NewNullLogger())
	calls := 0
	err := r.Retry(t.Context(), func(ctx context.Context, c *Client) error {
		if calls++; calls <= 2 {
			kill(t, c)
		}
		_, err := c.Describe(ctx)
		return err
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// A binary that ends at once is started as often as Limit says; one that cannot be
// started at all is no reason to wait.
func TestRestartHopeless(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := NewRestarter(RestartConfig{
		Config:   Config{Path: script(t, "echo x >>"+count+"; echo no licence >&2; exit 3"), Logger: hclog.NewNullLogger()},
		MinDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond, Limit: 3,
	})
	defer r.Close()
	_, err := r.Client(t.Context())
	if !errors.Is(err, ErrRestartLimit) || !strings.Contains(err.Error(), "no licence") || !strings.Contains(err.Error(), "3 times") {
		t.Errorf("error %v", err)
	}
	if lines, err := os.ReadFile(count); err != nil || len(lines) != 3*len("x\n") {
		t.Errorf("it was started %d times, %v", len(lines)/2, err)
	}

	for name, c := range map[string]Config{
		"no binary":      {Path: "/nowhere/gladflow"},
		"no checksum":    {Path: proctest.Self(t), Checksum: "12"},
		"other checksum": {Path: proctest.Self(t), Checksum: strings.Repeat("ab", 32)},
		"no folder":      {Path: proctest.Self(t), Dir: "/nowhere"},
		"refused":        {Path: script(t, `echo '{"@level":"error","@module":"gladflow","@message":"the argument --x is unknown"}' >&2; exit 2`)},
		"no plugin":      {Reattach: reattachLine(t, "/nowhere")},
	} {
		t.Run(name, func(t *testing.T) {
			c.Logger = hclog.NewNullLogger()
			r := NewRestarter(RestartConfig{Config: c, MinDelay: time.Hour})
			defer r.Close()
			for range 2 {
				if _, err := r.Client(t.Context()); err == nil || errors.Is(err, ErrRestartLimit) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}
