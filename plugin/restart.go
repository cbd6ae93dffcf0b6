package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A RestartConfig says what a Restarter launches, and how often.
type RestartConfig struct {
	Config
	// MinDelay is the wait before the first restart; each further one is twice
	// as long, up to MaxDelay. The waits are these times a random factor from
	// 0.5 to 1.5, so that hosts that have lost their plugins together do not
	// start them together. Defaults: 100 ms and 30 s.
	MinDelay, MaxDelay time.Duration
	// ResetAfter is how long a plugin must have lived, until its end is noticed,
	// to be a good one: the waits and the count of Limit begin anew then.
	// Default: 1 minute.
	ResetAfter time.Duration
	// Limit is after how many starts in a row, of which none has given a good
	// plugin, the Restarter gives up. Default (0): 10; negative: never.
	Limit int
}

const (
	defaultMinDelay     = 100 * time.Millisecond
	defaultMaxDelay     = 30 * time.Second
	defaultResetAfter   = time.Minute
	defaultRestartLimit = 10
)

// ErrRestartLimit is in the errors of a Restarter that has given up: see
// RestartConfig.Limit.
var ErrRestartLimit = errors.New("it is not started again")

// A Restarter has a client of a plugin that runs: it launches the plugin, and
// another one when that has died. It may be used by many goroutines at once. It
// watches nothing: it replaces a plugin when it is next asked for a client.
//
// It repeats no call. A call that was at work when the plugin died fails with
// Unavailable, as status.Code tells, and only its caller knows whether it may be
// done a second time: runs write files, and samples may come from a stream that
// can be read only once. Retry is for calls that may.
//
// It replaces what has ended, not what does not answer.
type Restarter struct {
	config RestartConfig
	log    hclog.Logger
	launch func(context.Context, Config) (*Client, error)
	// died says whether the plugin of a client has ended, and how.
	died func(*Client) (how string, dead bool)

	// alive ends with Close.
	alive context.Context
	end   context.CancelFunc

	// calls are those that clients of plugins which have died had at work.
	calls sync.WaitGroup

	// turn has room for one: who has put something in has what follows.
	turn    chan struct{}
	client  *Client // nil for none
	since   time.Time
	starts  int // in a row without a good plugin
	delays  *backoff.ExponentialBackOff
	notTill time.Time // the next start
	last    error     // why the last plugin has ended, or was not started
}

// NewRestarter launches nothing yet: Client does.
func NewRestarter(c RestartConfig) *Restarter {
	c.MinDelay = cmp.Or(max(c.MinDelay, 0), defaultMinDelay)
	c.MaxDelay = max(cmp.Or(max(c.MaxDelay, 0), defaultMaxDelay), c.MinDelay)
	c.ResetAfter = cmp.Or(max(c.ResetAfter, 0), defaultResetAfter)
	c.Limit = cmp.Or(c.Limit, defaultRestartLimit)
	r := &Restarter{
		config: c, log: c.logger(), launch: Launch, died: died, turn: make(chan struct{}, 1),
		delays: &backoff.ExponentialBackOff{
			InitialInterval: c.MinDelay, MaxInterval: c.MaxDelay, Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
		},
	}
	r.alive, r.end = context.WithCancel(context.Background())
	return r
}

// died is Restarter.died. A plugin that was attached is not the host's to judge.
func died(c *Client) (how string, dead bool) {
	switch {
	case c.alive.Err() != nil:
		return "its client was closed", true
	case c.process != nil && c.process.client.Exited():
		return c.process.cmd.ProcessState.String(), true
	}
	return "", false
}

// Client returns the client of a plugin that was alive a moment ago, the same one
// to all callers until that has died. It is the Restarter's to close.
//
// It may have to launch the plugin and, when that has failed before, to wait: until
// ctx ends, which also ends a start under way, until there is one, or until Limit.
// Errors are ctx's, ErrRestartLimit or ErrClosed. A Config that cannot be used, such
// as a Path where nothing is, a wrong Checksum or Args that the binary refuses, is an
// error at once and may be right at the next call.
func (r *Restarter) Client(ctx context.Context) (*Client, error) {
	if err := r.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-r.turn }()
	if r.client != nil {
		how, dead := r.died(r.client)
		if !dead {
			return r.client, nil
		}
		r.bury(how)
	}
	for {
		if r.givenUp() {
			return nil, fmt.Errorf("plugin: %s was started %d times in a row and has not lived for %v; %w: %w",
				r.config.Path, r.starts, r.config.ResetAfter, ErrRestartLimit, r.last)
		}
		if err := r.wait(ctx); err != nil {
			return nil, err
		}
		if done, err := r.start(ctx); done {
			return r.client, err
		}
	}
}

func (r *Restarter) takeTurn(ctx context.Context) error {
	switch {
	case r.alive.Err() != nil:
		return ErrClosed
	case ctx.Err() != nil:
		return fmt.Errorf("plugin: there is no client of %s for a context that has ended: %w", r.config.Path, context.Cause(ctx))
	}
	select {
	case r.turn <- struct{}{}:
		if r.alive.Err() == nil {
			return nil
		}
		<-r.turn
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("plugin: waiting for %s to be started: %w", r.config.Path, context.Cause(ctx))
	case <-r.alive.Done():
		return ErrClosed
	}
}

// bury closes the client of a plugin that has died. Its calls hear of that and not
// that somebody has closed it.
func (r *Restarter) bury(how string) {
	pid, up := r.client.PID(), time.Since(r.since)
	if up >= r.config.ResetAfter {
		r.starts = 0
		r.delays.Reset()
	}
	r.last = fmt.Errorf("plugin: the plugin, process %d, has ended (%s); ask for the client of another: %w",
		pid, how, status.Error(codes.Unavailable, "the process has ended"))
	r.client.shut(r.last)
	r.calls.Go(r.client.work.Wait) // a reader of samples may take its time
	r.client = nil
	r.postpone("the plugin has ended", "pid", pid, "how", how, "after", up.Round(time.Millisecond).String())
}

// givenUp says whether the limit has been reached.
func (r *Restarter) givenUp() bool { return r.config.Limit > 0 && r.starts >= r.config.Limit }

// postpone sets the time of the next start and logs why there will be one.
func (r *Restarter) postpone(why string, details ...any) {
	details = append(details, "starts", r.starts)
	if r.givenUp() {
		r.log.Error(why+"; it is not started again", append(details, "limit", r.config.Limit)...)
		return
	}
	wait := r.delays.NextBackOff().Round(time.Millisecond)
	r.notTill = time.Now().Add(wait)
	r.log.Warn(why+"; it will be started again", append(details, "wait", wait.String())...)
}

// wait waits until the plugin may be started.
func (r *Restarter) wait(ctx context.Context) error {
	timer := time.NewTimer(time.Until(r.notTill))
	defer timer.Stop()
	select {
	case <-r.alive.Done():
		return ErrClosed
	case <-ctx.Done():
	case <-timer.C:
		if ctx.Err() == nil {
			return nil
		}
	}
	if r.last == nil {
		return fmt.Errorf("plugin: starting %s: %w", r.config.Path, context.Cause(ctx))
	}
	return fmt.Errorf("plugin: waiting to start %s again: %w; it was not up because: %w", r.config.Path, context.Cause(ctx), r.last)
}

// start launches the plugin. It is done unless there is to be another attempt.
func (r *Restarter) start(ctx context.Context) (done bool, err error) {
	if r.config.Reattach == "" {
		_, unknown := r.config.resolve()
		_, wrong := r.config.checksum()
		if err := cmp.Or(unknown, wrong, r.config.checkDir()); err != nil {
			return true, err
		}
	}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.alive, cancel)()
	client, err := r.launch(starting, r.config.Config)
	switch {
	case r.alive.Err() != nil:
		if err == nil {
			client.Close()
		}
		return true, ErrClosed
	case err == nil:
		if r.last != nil {
			r.log.Info("the plugin was started again", "pid", client.PID(), "starts", r.starts+1)
		}
		r.client, r.since = client, time.Now()
		r.starts++
		return true, nil
	case ctx.Err() != nil, r.config.Reattach != "", errors.Is(err, plugin.ErrChecksumsDoNotMatch), errors.As(err, new(*settingError)):
		return true, err
	}
	r.starts++
	r.last = err
	r.postpone("the plugin does not start", "error", err)
	return false, nil
}

// Retry calls f with a client, and once more with the next one whenever f has
// returned an error that is Unavailable because the plugin has died. It is for
// calls that may be repeated: those that only ask, such as Describe or Validate, or
// runs that write no files and whose samples f makes anew. It ends with ctx, and
// where Client fails.
func (r *Restarter) Retry(ctx context.Context, f func(context.Context, *Client) error) error {
	for {
		c, err := r.Client(ctx)
		if err != nil {
			return err
		}
		err = f(ctx, c)
		switch {
		case status.Code(err) != codes.Unavailable:
			return err
		case ctx.Err() == nil && !soon(func() bool { _, dead := r.died(c); return dead }):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
		}
	}
}

// Close ends the plugin as Client.Close does, and a start or a wait under way. It
// returns when nothing is left of them, and of the calls of the plugins before. To close again does nothing. It returns nil.
func (r *Restarter) Close() error {
	r.end()
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.client != nil {
		r.client.Close()
		r.client = nil
	}
	r.calls.Wait()
	return nil
}
