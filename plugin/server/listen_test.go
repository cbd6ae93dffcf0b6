package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A serving is a listener that serves until the end of the test.
type serving struct {
	*Listener
	target string // to dial
	end    context.CancelFunc
	ended  chan error
}

// listening serves at a free port, or at the address of c. No goroutine of it
// is left after the test.
func listening(t testing.TB, c ListenConfig) *serving {
	t.Helper()
	return listeningWith(t, c, defaultPatience())
}

func listeningWith(t testing.TB, c ListenConfig, p patience) *serving {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	l, err := listen(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &serving{Listener: l, target: l.listener.Addr().String(), end: end, ended: make(chan error, 1)}
	go func() { s.ended <- l.Serve(ctx); close(s.ended) }()
	t.Cleanup(func() {
		end()
		l.Stop()
		<-s.ended
	})
	return s
}

// Told to end, the service lets its run end: whoever waits for the result has
// it, new runs are refused, health says so, and watchers of health are sent
// away.
func TestDrain(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:0"})
	conn := dial(t, l.target)
	health := grpc_health_v1.NewHealthClient(conn)
	watch, err := health.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatalf("health: %v, %v", first, err)
	}
	job, more := mediumJob(t), shortJob(t)
	run := startRun(t, conn, job)
	waited := awaitResult(t, conn, run)
	start := time.Now()
	l.end()
	if next, err := watch.Recv(); err != nil || next.Status != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health while ending: %v, %v", next, err)
	}
	if code, text := fetch(t, "http://"+l.MetricsAddress()+"/healthz"); code != http.StatusServiceUnavailable {
		t.Errorf("/healthz while ending: %d %q", code, text)
	}
	_, err = flighttest.Action(t.Context(), conn, protocol.ActionRecover, more)
	if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.Unavailable || f.Reason != protocol.ReasonDraining {
		t.Errorf("a new run while ending: %v", err)
	}
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionSolvers, nil); err != nil {
		t.Errorf("another call while ending: %v", err)
	}
	select {
	case err := <-l.ended:
		t.Fatalf("ended with a run at work: %v", err)
	default:
	}
	if err := <-waited; err != nil {
		t.Errorf("the result of the run: %v", err)
	}
	if err := <-l.ended; err != nil {
		t.Errorf("Serve returns %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the drain took %v", took)
	}
	if _, err := watch.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the watch of health ended with %v", err)
	}
}

// Runs that do not end in time are cancelled, and those who wait for them are
// told; so they are at once by Stop.
func TestDrainThatTakesTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		timeout time.Duration
		stop    bool
	}{
		"timeout": {300 * time.Millisecond, false},
		"none":    {-1, false},
		"Stop":    {time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := listening(t, ListenConfig{Insecure: true, DrainTimeout: c.timeout})
			conn := dial(t, l.target)
			run := startRun(t, conn, longJob(t))
			awaitSolving(t, flight.NewClientFromConn(conn, nil), run)
			waited := awaitResult(t, conn, run)
			start := time.Now()
			l.end()
			if c.stop {
				awaitDraining(t, conn)
				l.Stop()
			}
			if err := <-l.ended; !errors.Is(err, ErrRunsCancelled) {
				t.Errorf("Serve returns %v", err)
			}
			took := time.Since(start)
			t.Logf("ended after %v", took)
			if took > 2*time.Second {
				t.Errorf("it took %v", took)
			}
			// What had finished, or why there is nothing; never a broken connection.
			if err := <-waited; err != nil && protocol.FaultOf(err).Reason != protocol.ReasonDraining {
				t.Errorf("who waits is told %v", err)
			}
		})
	}
}

// A caller that holds a call open cannot keep the service from ending.
func TestDrainWithAnOpenCall(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, DrainTimeout: 300 * time.Millisecond})
	conn := dial(t, l.target)
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/"+flightService+"/DoPut")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.CloseSend()
	if _, err := flighttest.Action(t.Context(), conn, protocol.ActionSolvers, nil); err != nil {
		t.Fatal(err) // the connection is there now, and the stream with it
	}
	l.end()
	select {
	case err := <-l.ended:
		if err != nil {
			t.Errorf("Serve returns %v, though there was no run", err)
		}
	case <-time.After(3 * time.Second):
		t.Error("it does not end")
	}
}

// A socket that a process has left behind is replaced, one that answers is not,
// and none is left at the end.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	l := listening(t, ListenConfig{Insecure: true, Address: "unix:" + path})
	if want := "grpc+unix://" + path; l.Address() != want {
		t.Errorf("the address is %s, not %s", l.Address(), want)
	}
	if _, err := flighttest.Action(t.Context(), dial(t, "unix:"+path), protocol.ActionSolvers, nil); err != nil {
		t.Error(err)
	}
	_, err = Listen(t.Context(), ListenConfig{Insecure: true, Address: "unix:" + path})
	var wrong *SettingError
	if !errors.As(err, &wrong) || wrong.Setting != "Address" || !strings.Contains(wrong.Error(), "another process listens") {
		t.Errorf("a second one at the same socket: %v", err)
	}
	l.end()
	if err := <-l.ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

// An address that is taken is a failure of the machine, not of a setting.
func TestAddressInUse(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true})
	var wrong *SettingError
	want := l.target + " is in use by another process; choose another port, or 0 for a free one"
	if _, err := Listen(t.Context(), ListenConfig{Insecure: true, Address: l.target}); err == nil || errors.As(err, &wrong) || err.Error() != want {
		t.Errorf("a taken address: %v", err)
	}
	_, err := Listen(t.Context(), ListenConfig{Insecure: true, Address: "127.0.0.1:0", MetricsAddress: l.target})
	if err == nil || errors.As(err, &wrong) || err.Error() != want {
		t.Errorf("a taken address for metrics: %v", err)
	}
}

// There is no reflection: nobody needs it, and it tells strangers what runs.
func TestNoReflection(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true})
	stream, err := dial(t, l.target).NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.RecvMsg(&grpc_health_v1.HealthCheckResponse{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("reflection: %v", err)
	}
}

func fetch(t testing.TB, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
