package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A Client is a connection to a gladflow service. Launch and Attach make one.
type Client struct {
	conn       *grpc.ClientConn
	flights    flight.Client
	process    *process // nil if attached
	attached   int      // process id of a plugin that was started by hand; 0 for others
	batchBytes int
	mem        memory.Allocator

	// alive ends with Close, and with it every call; its cause is their error.
	alive context.Context
	end   context.CancelCauseFunc
	close sync.Once

	mu     sync.Mutex
	closed bool
	// work counts the goroutines of calls.
	work sync.WaitGroup
}

// A Description says what a service is: its build, what it finds on its
// machine, and its limits.
type Description struct {
	job.Description
	protocol.Service
}

func newClient(conn *grpc.ClientConn, p *process, batchBytes int) *Client {
	c := &Client{
		conn:       conn,
		flights:    flight.NewClientFromConn(conn, nil),
		process:    p,
		batchBytes: batchBytes,
		mem:        memory.DefaultAllocator,
	}
	if c.batchBytes <= 0 {
		c.batchBytes = batch.Bytes
	}
	c.alive, c.end = context.WithCancelCause(context.Background())
	return c
}

// Close ends every call, and the plugin if Launch has started it: at once where it
// behaves, by a signal after a few seconds otherwise. It waits for what the
// calls had at work, so for a Next of samples that is on its way. Readers that
// are open end with ErrClosed; they are to be released all the same. To close
// again does nothing. It returns nil.
func (c *Client) Close() error {
	c.shut(ErrClosed)
	c.work.Wait()
	return nil
}

// shut is Close with another error for the calls, and without the wait for them.
func (c *Client) shut(cause error) {
	c.close.Do(func() {
		c.mu.Lock()
		c.end(cause)
		c.closed = true
		c.mu.Unlock()
		if c.process != nil {
			c.process.end() // closes conn
		} else {
			c.conn.Close() // fails only if closed already
		}
	})
}

// PID is the process id of the plugin; 0 if the client is that of Attach.
func (c *Client) PID() int {
	if c.process == nil {
		return c.attached
	}
	return c.process.pid
}

// Ping asks the service for a sign of life.
func (c *Client) Ping(ctx context.Context) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	stream, err := c.flights.ListActions(ctx, &flight.Empty{})
	if err != nil {
		return c.explain(ctx, err)
	}
	known := false
	for {
		action, err := stream.Recv()
		switch {
		case err == io.EOF && !known:
			return status.Errorf(codes.Unimplemented, "a Flight service without the action %q", protocol.ActionDescribe)
		case err == io.EOF:
			return nil
		case err != nil:
			return c.explain(ctx, err)
		}
		known = known || action.GetType() == protocol.ActionDescribe
	}
}

// Describe says what the service is.
func (c *Client) Describe(ctx context.Context) (Description, error) {
	return answer[Description](ctx, c, protocol.ActionDescribe, nil)
}

// Schema is the JSON Schema of a job.
func (c *Client) Schema(ctx context.Context) ([]byte, error) {
	return answer[json.RawMessage](ctx, c, protocol.ActionSchema, nil)
}

// Solvers are the solvers that jobs may name.
func (c *Client) Solvers(ctx context.Context) ([]job.SolverInfo, error) {
	return answer[[]job.SolverInfo](ctx, c, protocol.ActionSolvers, nil)
}

// Models are the built-in models, the default first.
func (c *Client) Models(ctx context.Context) ([]job.ModelInfo, error) {
	return answer[[]job.ModelInfo](ctx, c, protocol.ActionModels, nil)
}

// Validate returns job with its defaults filled in, or the error that it would
// fail with before any table is read.
func (c *Client) Validate(ctx context.Context, j job.Job) (job.Job, error) {
	return answer[job.Job](ctx, c, protocol.ActionValidate, j)
}

// Runs are the runs of this caller that the service knows, those at work among them;
// of all callers, where the service shares runs or does not tell callers apart.
func (c *Client) Runs(ctx context.Context) ([]protocol.RunInfo, error) {
	return c.runs(ctx, nil)
}

// runs are those that criteria of ListFlights name, all for nil.
func (c *Client) runs(ctx context.Context, criteria []byte) ([]protocol.RunInfo, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	stream, err := c.flights.ListFlights(ctx, &flight.Criteria{Expression: criteria})
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	var runs []protocol.RunInfo
	for {
		info, err := stream.Recv()
		switch {
		case err == io.EOF:
			return runs, nil
		case err != nil:
			return nil, c.explain(ctx, err)
		}
		var run protocol.RunInfo
		if err := json.Unmarshal(info.GetAppMetadata(), &run); err != nil {
			return nil, fmt.Errorf("plugin: the service described a run in another way than this host understands: %w", err)
		}
		// A run has a flight for each of its tables.
		if !slices.ContainsFunc(runs, func(r protocol.RunInfo) bool { return r.Run == run.Run }) {
			runs = append(runs, run)
		}
	}
}

// answer does an action that has one result. body is marshalled to JSON; nil
// for none.
func answer[T any](ctx context.Context, c *Client, name string, body any) (result T, err error) {
	bodies, err := c.action(ctx, name, body)
	if err != nil {
		return result, err
	}
	return only[T](name, bodies)
}

// only is the one result of an action.
func only[T any](name string, bodies [][]byte) (result T, err error) {
	if len(bodies) != 1 {
		return result, fmt.Errorf("plugin: the service has given %d answers to %s instead of one; update the older of plugin and host", len(bodies), name)
	}
	var parsed T
	if err := json.Unmarshal(bodies[0], &parsed); err != nil {
		return result, fmt.Errorf("plugin: the service has answered %s in another way than this host understands; update the older of the two: %w", name, err)
	}
	return parsed, nil
}

// action does an action and returns its results, with an error those that came
// before it.
func (c *Client) action(ctx context.Context, name string, body any) ([][]byte, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	stream, err := c.startAction(ctx, name, body)
	if err != nil {
		return nil, err
	}
	var results [][]byte
	for {
		r, err := stream.Recv()
		switch {
		case err == io.EOF:
			return results, nil
		case err != nil:
			return results, c.explain(ctx, err)
		}
		results = append(results, r.GetBody())
	}
}

func (c *Client) startAction(ctx context.Context, name string, body any) (flight.FlightService_DoActionClient, error) {
	action := &flight.Action{Type: name}
	if body != nil {
		var err error
		if action.Body, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("plugin: %s: %w", name, err)
		}
	}
	stream, err := c.flights.DoAction(ctx, action)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return stream, nil
}

// ErrClosed is the error of every call of a client that was closed.
var ErrClosed = errors.New("plugin: the client is closed; launch or attach another")
