package attack

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A service is a process of gladflow serve, with a connection and a good client.
type service struct {
	cmd     *exec.Cmd
	address string // host:port
	metrics string // host:port of /metrics
	conn    *grpc.ClientConn
	flights flight.Client
	client  *plugin.Client
	log     *logtest.Log
	edges   string // that the good call gives, once it was made
}

// serve starts the service at free ports.
func serve(t *testing.T, args ...string) *service {
	t.Helper()
	s := &service{log: &logtest.Log{}, metrics: freeAddress(t)}
	s.cmd = exec.Command(built.Binary(t), append([]string{"serve", "--insecure", "--listen", "127.0.0.1:0", "--metrics-listen", s.metrics}, args...)...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(line, "listening on grpc://")
	if err != nil || !ok {
		t.Fatalf("it says %q, %v\n%s", line, err, s.log)
	}
	s.address = strings.TrimSpace(address)
	s.conn = dial(t, s.address)
	s.flights = flight.NewClientFromConn(s.conn, nil)
	if s.client, err = plugin.Attach(soon(t), plugin.AttachConfig{Address: s.address, Insecure: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.client.Close() })
	return s
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// lives fails unless the process is there, a good call gives what it gave before,
// and no more memory was ever taken than most, in bytes.
func (s *service) lives(t *testing.T, after string, most int64) {
	t.Helper()
	edges, err := exchange(soon(t), s.client)
	if err != nil || !proctest.Lives(s.cmd.Process.Pid) {
		t.Fatalf("after %s a good call fails: %v\n%s", after, err, tail(s.log.String()))
	}
	if s.edges == "" {
		s.edges = edges
	}
	if edges != s.edges {
		t.Fatalf("after %s a good call gives\n%s\nand not\n%s", after, edges, s.edges)
	}
	if got := peak(s.cmd.Process.Pid); got > most {
		t.Fatalf("after %s the process has taken %d MiB, more than %d", after, got>>20, most>>20)
	}
}

// exchange is the good call: samples in, edges out, as text.
func exchange(ctx context.Context, c *plugin.Client) (string, error) {
	samples := goodSamples()
	edges, err := c.Exchange(ctx, job.Job{Solvers: []string{"bcd"}, Penalty: "0.2"}, samples)
	if err != nil {
		return "", err
	}
	defer edges.Release()
	var text strings.Builder
	for edges.Next() {
		fmt.Fprintln(&text, edges.Record().Columns())
	}
	if err := edges.Err(); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if text.Len() == 0 {
		return "", errors.New("there are no edges")
	}
	return text.String(), nil
}

// action does an action.
func (s *service) action(t *testing.T, name string, body any) ([]byte, error) {
	t.Helper()
	return flighttest.Action(soon(t), s.conn, name, body)
}

// forgetAll ends all runs.
func (s *service) forgetAll(t *testing.T) {
	t.Helper()
	stream, err := s.flights.ListFlights(soon(t), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for {
		info, err := stream.Recv()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if id := info.GetFlightDescriptor().GetPath()[0]; !seen[id] {
			seen[id] = true
			s.action(t, protocol.ActionForget, protocol.Run{Run: id})
		}
	}
}

// figure is a number that /metrics has.
func (s *service) figure(t *testing.T, name string) float64 {
	t.Helper()
	reply, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("/metrics has no %s", name)
	return 0
}

// ends waits for the end of the service.
func (s *service) ends(t *testing.T, within time.Duration) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(within):
		t.Fatalf("the service goes on after %v\n%s", within, tail(s.log.String()))
	}
}

// peak is the most memory that a process has held, resident what it holds now, in
// bytes; 0 where the system does not tell.
func peak(pid int) int64     { return memoryOf(pid, "VmHWM:") }
func resident(pid int) int64 { return memoryOf(pid, "VmRSS:") }

func memoryOf(pid int, which string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == which {
			kB, _ := strconv.ParseInt(f[1], 10, 64)
			return kB << 10
		}
	}
	return 0
}

// descriptors is how many files a process has open.
func descriptors(pid int) int {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open)
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// gladflow runs the command line to its end, or a minute. hwm is about the most memory
// that it has held.
func gladflow(t *testing.T, dir string, args ...string) (code int, output string, hwm int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, built.Binary(t), args...)
	cmd.Dir = dir
	var text logtest.Log
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	// The system's own figure has that of the parent in it, by which it was started.
	for {
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode(), text.String(), hwm
		case <-time.After(time.Millisecond):
			hwm = max(hwm, peak(cmd.Process.Pid))
		}
	}
}

// file writes a file into a folder of its own.
func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fault is the error of a call; it fails unless it is one with a reason, in words.
func fault(t *testing.T, what string, err error) *protocol.Fault {
	t.Helper()
	f := protocol.FaultOf(err)
	if f == nil {
		t.Errorf("%s: it is accepted", what)
		return &protocol.Fault{}
	}
	if problem := unsaid(f); problem != "" {
		t.Errorf("%s: %s: %+v", what, problem, f)
	}
	return f
}

// unsaid is what is wrong with the words of a fault.
func unsaid(f *protocol.Fault) string {
	switch {
	case f.Reason == "":
		return "no reason of gladflow's"
	case f.Reason == protocol.ReasonPanic:
		return "a panic"
	case f.Message == "":
		return "no message"
	}
	for _, text := range []string{"runtime error", "goroutine ", ".go:", "panic", "interface conversion", "reflect:"} {
		if strings.Contains(f.Message, text) {
			return "Go's own words"
		}
	}
	return ""
}

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// jsonRun is the run that an action has started.
func jsonRun(t *testing.T, text []byte) (r protocol.Run) {
	t.Helper()
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return r
}
