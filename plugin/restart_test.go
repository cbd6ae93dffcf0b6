package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/logtest"
)

// A script of launches: what a Restarter finds instead of processes. Times are those
// of the bubble of a test.
type launches struct {
	t  *testing.T
	mu sync.Mutex
	at []time.Time
	// do is what the launch with this number does, from 0 on.
	do func(ctx context.Context, n int) error
	// lives is how long the plugin of a launch lives; 0 for ever.
	lives func(n int) time.Duration
	dies  map[*Client]time.Time
}

// restarter is one with no processes.
func (l *launches) restarter(c RestartConfig) *Restarter {
	l.t.Helper()
	var err error
	if c.Path, err = os.Executable(); err != nil {
		l.t.Fatal(err)
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	r := NewRestarter(c)
	l.dies = map[*Client]time.Time{}
	r.launch = l.launch
	r.died = func(c *Client) (string, bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		at := l.dies[c]
		return "signal: killed", c.alive.Err() != nil || !at.IsZero() && !time.Now().Before(at)
	}
	return r
}

func (l *launches) launch(ctx context.Context, _ Config) (*Client, error) {
	l.mu.Lock()
	n := len(l.at)
	l.at = append(l.at, time.Now())
	l.mu.Unlock()
	if l.do != nil {
		if err := l.do(ctx, n); err != nil {
			return nil, err
		}
	}
	conn, err := grpc.NewClient("unix:/nowhere", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	c := newClient(conn, nil, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lives != nil {
		if d := l.lives(n); d > 0 {
			l.dies[c] = time.Now().Add(d)
		}
	}
	return c, nil
}

// waits are the times between launches.
func (l *launches) waits() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var waits []time.Duration
	for i := 1; i < len(l.at); i++ {
		waits = append(waits, l.at[i].Sub(l.at[i-1]))
	}
	return waits
}

// about fails unless each wait is from half to one and a half of the one wanted.
func about(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("waits %v, want about %v", got, want)
	}
	for i, w := range want {
		if got[i] < w/2-time.Millisecond || got[i] > w*3/2+time.Millisecond {
			t.Errorf("waits %v, want about %v", got, want)
		}
	}
}

// A plugin that does not start is tried again after longer and longer waits, until
// the limit; then no more.
func TestRestartGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Log
		l := &launches{t: t, do: func(_ context.Context, n int) error { return fmt.Errorf("attempt %d: no licence", n) }}
		r := l.restarter(RestartConfig{Config: Config{Logger: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})}})
		defer r.Close()
		for range 2 { // the second does not begin anew
			c, err := r.Client(t.Context())
			if c != nil || !errors.Is(err, ErrRestartLimit) || !strings.Contains(err.Error(), "attempt 9: no licence") || !strings.Contains(err.Error(), "10 times") {
				t.Errorf("client %v, error %v", c, err)
			}
		}
		const ms = time.Millisecond
		about(t, l.waits(), 100*ms, 200*ms, 400*ms, 800*ms, 1600*ms, 3200*ms, 6400*ms, 12800*ms, 25600*ms)
		again, last := strings.Count(log.String(), "does not start; it will be started again"), strings.Count(log.String(), "does not start; it is not started again")
		if again != 9 || last != 1 || !strings.Contains(log.String(), "no licence") {
			t.Errorf("the log tells of %d attempts and then %d:\n%s", again, last, log.String())
		}
	})
}

func TestRestartWaitsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &launches{t: t, do: func(context.Context, int) error { return errSource }}
		r := l.restarter(RestartConfig{MinDelay: time.Second, MaxDelay: 3 * time.Second, Limit: -1})
		defer r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := r.Client(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errSource) {
			t.Errorf("error %v, want that of the context and that of the plugin", err)
		}
		waits := l.waits()
		if len(waits) < 600 || slices.Max(waits) > 4501*time.Millisecond {
			t.Errorf("%d waits, up to %v", len(waits), slices.Max(waits))
		}
	})
}

// One that dies soon again and again waits longer and longer; one that has lived for
// a while begins anew, and never comes to the limit.
func TestRestartForgets(t *testing.T) {
	for name, c := range map[string]struct {
		lives time.Duration
		want  []time.Duration // without the life
		err   error
	}{
		"soon":  {time.Second, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}, ErrRestartLimit},
		"later": {2 * time.Minute, slices.Repeat([]time.Duration{100 * time.Millisecond}, 9), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &launches{t: t, lives: func(int) time.Duration { return c.lives }}
				r := l.restarter(RestartConfig{Limit: 4})
				defer r.Close()
				var last *Client
				var err error
				for range 10 {
					var client *Client
					if client, err = r.Client(t.Context()); err != nil {
						break
					}
					again, err := r.Client(t.Context())
					if err != nil || again != client || client == last {
						t.Fatalf("clients %p, %p after %p, %v", client, again, last, err)
					}
					last = client
					time.Sleep(c.lives)
				}
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				waits := l.waits()
				for i := range waits {
					waits[i] -= c.lives
				}
				about(t, waits, c.want...)
			})
		})
	}
}

// Who waits is released by its own context or by Close; the others go on.
func TestRestartWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &launches{t: t, do: func(_ context.Context, n int) error {
			if n < 2 {
				return errSource
			}
			return nil
		}}
		r := l.restarter(RestartConfig{MinDelay: 10 * time.Second})
		defer r.Close()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for range 3 { // one waits for the plugin, the others for that one
			wg.Go(func() {
				began := time.Now()
				if _, err := r.Client(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("after %v: error %v", time.Since(began), err)
				}
			})
		}
		got := make([]*Client, 20)
		for i := range got {
			wg.Go(func() {
				var err error
				if got[i], err = r.Client(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		about(t, l.waits(), 10*time.Second, 20*time.Second)
		for _, c := range got {
			if c == nil || c != got[0] {
				t.Errorf("clients %p and %p", c, got[0])
			}
		}
	})
}

func TestRestartCloses(t *testing.T) {
	for name, do := range map[string]func(context.Context, int) error{
		"waiting": func(context.Context, int) error { return errSource },
		"starting": func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return context.Cause(ctx)
		},
		"started": func(ctx context.Context, _ int) error {
			<-ctx.Done() // too late to be stopped
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &launches{t: t, do: do}
				r := l.restarter(RestartConfig{MinDelay: time.Hour})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if c, err := r.Client(t.Context()); c != nil || !errors.Is(err, ErrClosed) {
							t.Errorf("client %v, error %v", c, err)
						}
					})
				}
				synctest.Wait()
				began := time.Now()
				wg.Go(func() { r.Close() })
				r.Close()
				wg.Wait()
				if took := time.Since(began); took != 0 {
					t.Errorf("it took %v", took)
				}
				if _, err := r.Client(t.Context()); !errors.Is(err, ErrClosed) {
					t.Errorf("after Close: error %v", err)
				}
			})
		})
	}
}

// Only what is Unavailable because the plugin has died is repeated, and only by
// Retry.
func TestRetry(t *testing.T) {
	gone := status.Error(codes.Unavailable, "gone")
	for name, c := range map[string]struct {
		lives time.Duration // of the first plugin
		err   error         // of the first call
		calls int
	}{
		"no error":                  {time.Millisecond, nil, 1},
		"died":                      {time.Millisecond, fmt.Errorf("describe: %w", gone), 2},
		"died, but another error":   {time.Millisecond, errSource, 1},
		"Unavailable, but it lives": {0, gone, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &launches{t: t, lives: func(n int) time.Duration {
					if n == 0 {
						return c.lives
					}
					return 0
				}}
				r := l.restarter(RestartConfig{})
				defer r.Close()
				var clients []*Client
				err := r.Retry(t.Context(), func(_ context.Context, client *Client) error {
					clients = append(clients, client)
					time.Sleep(2 * time.Millisecond)
					if len(clients) == 1 {
						return c.err
					}
					return nil
				})
				if len(clients) != c.calls || c.calls == 2 && (clients[0] == clients[1] || err != nil) || c.calls == 1 && err != c.err {
					t.Errorf("%d calls, of clients %p; error %v", len(clients), clients, err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		l := &launches{t: t, lives: func(int) time.Duration { return time.Millisecond }}
		r := l.restarter(RestartConfig{})
		defer r.Close()
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := r.Retry(ctx, func(context.Context, *Client) error {
			calls++
			time.Sleep(2 * time.Millisecond)
			cancel()
			return gone
		})
		if calls != 1 || !errors.Is(err, context.Canceled) || status.Code(err) != codes.Unavailable {
			t.Errorf("the context has ended with the plugin: %d calls, error %v", calls, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := &launches{t: t, lives: func(int) time.Duration { return time.Millisecond }}
		r := l.restarter(RestartConfig{Limit: 3})
		defer r.Close()
		calls := 0
		err := r.Retry(t.Context(), func(context.Context, *Client) error {
			calls++
			time.Sleep(time.Millisecond)
			return gone
		})
		if calls != 3 || !errors.Is(err, ErrRestartLimit) {
			t.Errorf("what kills every plugin is called %d times; error %v", calls, err)
		}
	})
}

// A context that has ended is an error, also where there is a client.
func TestRestarterAndAnEndedContext(t *testing.T) {
	r := (&launches{t: t}).restarter(RestartConfig{})
	defer r.Close()
	if _, err := r.Client(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if c, err := r.Client(ended); c != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("client %v, error %v", c, err)
		}
	}
	r.Close()
	for range 100 {
		if c, err := r.Client(ended); c != nil || !errors.Is(err, ErrClosed) {
			t.Fatalf("of one that was closed: client %v, error %v", c, err)
		}
	}
}
