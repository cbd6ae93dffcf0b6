package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A service is a process of the binary with this test as its host, on
// go-plugin's own client, and Arrow's Flight client on the connection.
type service struct {
	flights flight.Client
	client  *goplugin.Client
	pid     int
	temp    string // its folder for temporary files
}

// start starts the binary; it ends with the test, and must leave nothing.
func (k *kit) start(t testing.TB) *service {
	t.Helper()
	s := &service{temp: temporary(t)}
	cmd := exec.Command(k.path, k.args...)
	cmd.Env = append(append(os.Environ(), k.env...), "TMPDIR="+s.temp)
	log := newLog(t)
	config := protocol.ClientConfig(cmd)
	config.AutoMTLS = k.mutualTLS
	config.SkipHostEnv = true // it would win over ours
	config.Logger = log
	config.GRPCDialOptions = []grpc.DialOption{grpc.WithInitialWindowSize(1 << 20), grpc.WithInitialConnWindowSize(8 << 20)}
	s.client = goplugin.NewClient(config)
	conn, err := protocol.Dispense(s.client)
	if err != nil {
		s.client.Kill()
		t.Fatalf("the binary does not start as a plugin: %v", err)
	}
	s.pid = cmd.Process.Pid
	s.flights = flight.NewClientFromConn(conn, nil)
	t.Cleanup(func() {
		s.client.Kill()
		nothingLeft(t, k, "Kill", s.temp, "")
	})
	return s
}

// launch starts the binary by package plugin.
func (k *kit) launch(t testing.TB) *plugin.Client {
	t.Helper()
	temp := temporary(t)
	c, err := plugin.Launch(soon(t), plugin.Config{
		Path: k.path, Args: k.args, Env: append(k.env[:len(k.env):len(k.env)], "TMPDIR="+temp),
		DisableMTLS: !k.mutualTLS, Logger: newLog(t),
	})
	if err != nil {
		t.Fatalf("the binary does not start as a plugin: %v", err)
	}
	t.Cleanup(func() {
		c.Close()
		nothingLeft(t, k, "Close", temp, "")
	})
	return c
}

// newLog is a log that is printed when the test has failed.
func newLog(t testing.TB) hclog.Logger {
	b := &lines{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log:\n%s", b.tail())
		}
	})
	return hclog.New(&hclog.LoggerOptions{Name: "host", Level: hclog.Debug, Output: b})
}

// lines is text that many goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lines) tail() string {
	const most = 6000
	s := l.String()
	return s[max(0, len(s)-most):]
}

// soon is a context for calls that should not take long: whatever hangs fails
// with it.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// nothingLeft fails if a process that was ended has left something.
func nothingLeft(t testing.TB, k *kit, after, temp, out string) {
	t.Helper()
	if left := Leftovers(k.endWithin, temp, out); len(left) > 0 {
		t.Errorf("%v after %s there must be no process, no socket and no half-written file; left are:\n%s", k.endWithin, after, list(left))
	}
}

func list(lines []string) string {
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "\t%s\n", l)
	}
	return b.String()
}
