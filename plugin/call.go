package plugin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// throughput is the options of a connection for batches of megabytes. The
// windows hold a few of them, so that a sender is not held up by every
// acknowledgement; gRPC would begin with 64 kB and estimate.
func throughput() []grpc.DialOption {
	const window, buffer = 8 << 20, 256 << 10
	return []grpc.DialOption{
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(2 * window),
		grpc.WithReadBufferSize(buffer),
		grpc.WithWriteBufferSize(buffer),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(math.MaxInt32),
			grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
}

// begin returns the context of a call, which ends with the caller's and with
// the client; done ends it.
func (c *Client) begin(ctx context.Context) (_ context.Context, done func(), _ error) {
	ctx, cancel, err := c.beginCause(ctx)
	if err != nil {
		return nil, nil, err
	}
	return ctx, func() { cancel(nil) }, nil
}

// beginCause is begin for calls that may be ended for a reason.
func (c *Client) beginCause(ctx context.Context) (context.Context, context.CancelCauseFunc, error) {
	if c.alive.Err() != nil {
		return nil, nil, context.Cause(c.alive)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(c.alive, func() { cancel(context.Cause(c.alive)) })
	return ctx, func(cause error) {
		unbind()
		cancel(cause)
	}, nil
}

// enter counts a goroutine that Close waits for, unless the client is closed;
// its end calls c.work.Done.
func (c *Client) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Add(1)
	return true
}

// explain makes the caller's error of a call's: see Errors in the package's
// comment. ctx is that of the call.
func (c *Client) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	f := protocol.FaultOf(err)
	code := status.Code(err)
	if code == codes.DeadlineExceeded && (f.Reason == "" || f.Reason == protocol.ReasonDeadline) {
		awaitDeadline(ctx)
	}
	cause := context.Cause(ctx)
	if closed := context.Cause(c.alive); closed != nil && (cause == nil || errors.Is(cause, closed)) {
		return closed
	}
	switch {
	case f.Reason != "" && cause != nil:
		return fmt.Errorf("%w (%w)", f, cause)
	case f.Reason != "":
		return f
	case cause != nil && (code == codes.Canceled || code == codes.DeadlineExceeded):
		return fmt.Errorf("plugin: the call was ended: %w (%w)", cause, err)
	case code == codes.Unavailable && c.process != nil && c.process.exited():
		return fmt.Errorf("plugin: the plugin, process %d, has ended; its log says why; launch it again: %w", c.process.pid, err)
	}
	return err
}

// awaitDeadline waits for the deadline of a call whose service has noticed it
// first: its clock, or its timer, was a little ahead.
func awaitDeadline(ctx context.Context) {
	if d, ok := ctx.Deadline(); ok && time.Until(d) < 100*time.Millisecond {
		<-ctx.Done()
	}
}

// exited says whether the process has ended, or does so within moments.
func (p *process) exited() bool { return soon(p.client.Exited) }

// soon says whether ended is true, or becomes so within moments: a connection breaks
// before the end of its process is noticed.
func soon(ended func() bool) bool {
	for range 20 {
		if ended() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ended()
}

// checkHealth asks go-plugin's health service.
func checkHealth(ctx context.Context, conn *grpc.ClientConn) error {
	_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx,
		&grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	return err
}
