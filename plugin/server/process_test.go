package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// TestMain is the plugin where a test has started the test binary as one.
func TestMain(m *testing.M) {
	proctest.BeThePlugin(func(ctx context.Context) error { return Plugin(ctx, Config{}) })
	os.Exit(m.Run())
}

// binary is the path of the test binary, to be started as a plugin.
func program(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes are ended by signals here")
	}
	return proctest.Self(t)
}

// asPlugin is the environment that a host gives a plugin.
func asPlugin(more ...string) []string {
	return append(append(os.Environ(), protocol.CookieKey+"="+protocol.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1"), more...)
}

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for start := time.Now(); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("after 10 s: %s", what)
		}
	}
}

// dial connects without TLS.
func dial(t testing.TB, target string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, options...)
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// startRun starts a job that names its input and returns the run.
func startRun(t testing.TB, conn *grpc.ClientConn, job map[string]any) protocol.Run {
	t.Helper()
	text, err := flighttest.Action(t.Context(), conn, protocol.ActionRecover, job)
	if err != nil {
		t.Fatal(err)
	}
	var run protocol.Run
	if err := json.Unmarshal(text, &run); err != nil || run.Run == "" {
		t.Fatalf("recover returns %q: %v", text, err)
	}
	return run
}

// awaitSolving waits until a solver of the run has reported progress twice, so
// that it has done an iteration.
func awaitSolving(t testing.TB, c flight.Client, run protocol.Run) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.DoAction(ctx, &flight.Action{Type: protocol.ActionWatch, Body: encode(run)})
	if err != nil {
		t.Fatal(err)
	}
	for reports := 0; reports < 2; {
		r, err := stream.Recv()
		if err != nil {
			t.Fatalf("the run solves nothing: %v", err)
		}
		var e protocol.Event
		if err := json.Unmarshal(r.Body, &e); err != nil {
			t.Fatal(err)
		}
		if e.Solver != "" && !e.Done {
			reports++
		}
	}
}

// awaitResult asks for the result of a run, and returns when the service has the
// call; the channel has its error.
func awaitResult(t testing.TB, conn *grpc.ClientConn, run protocol.Run) <-chan error {
	t.Helper()
	stream, err := flight.NewClientFromConn(conn, nil).DoAction(context.Background(), &flight.Action{Type: protocol.ActionResult, Body: encode(run)})
	if err != nil {
		t.Fatal(err)
	}
	// Calls of one connection arrive in their order.
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionSolvers, nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := stream.Recv()
		ended <- err
	}()
	return ended
}

// awaitDraining waits until the service says that it ends.
func awaitDraining(t testing.TB, conn *grpc.ClientConn) {
	t.Helper()
	eventually(t, "health is not NOT_SERVING", func() bool {
		got, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Status == grpc_health_v1.HealthCheckResponse_NOT_SERVING
	})
}

// shortJob takes milliseconds, longJob a minute, or until it is cancelled.
func shortJob(t testing.TB) map[string]any {
	return map[string]any{"input": samples(t, 40, 6), "solvers": []string{"bcd"}, "penalty": 0.2}
}

func longJob(t testing.TB) map[string]any {
	return map[string]any{"input": samples(t, 60, 120), "solvers": []string{"am"}, "penalty": 0.01,
		"gap": 1e-300, "iteration_limit": 100_000_000, "time_limit": "1m"}
}

// mediumJob takes a second.
func mediumJob(t testing.TB) map[string]any {
	job := longJob(t)
	job["time_limit"] = "1s"
	return job
}

func samples(t testing.TB, n, d int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for j := range d {
		fmt.Fprintf(&b, "%sv%d", strings.Repeat(",", min(j, 1)), j)
	}
	b.WriteByte('\n')
	for range n {
		x := 0.0
		for j := range d {
			x = 0.6*x + rng.NormFloat64()
			fmt.Fprintf(&b, "%s%.5f", strings.Repeat(",", min(j, 1)), x)
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "samples.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
