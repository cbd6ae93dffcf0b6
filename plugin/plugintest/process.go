package plugintest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A bare is a process of the binary whose host is written out, without
// go-plugin: it can look at what go-plugin hides, and die.
type bare struct {
	service
	cmd       *exec.Cmd // the binary, or a shell that has started it
	handshake string
	stderr    *lines
	conn      *grpc.ClientConn

	out, errs *os.File      // reading ends of its outputs
	rest      *lines        // what follows the handshake on standard output
	copied    chan struct{} // closed when both outputs have ended
}

// bare starts the binary with the cookie, by a shell if wrapped says so, and
// connects to it.
func (k *kit) bare(t testing.TB, wrapped bool) *bare {
	t.Helper()
	b := &bare{stderr: &lines{}, rest: &lines{}, copied: make(chan struct{})}
	b.temp = temporary(t)
	args := append([]string{k.path}, k.args...)
	if wrapped {
		args = append([]string{"sh", "-c", `"$0" "$@" & wait`}, args...)
	}
	b.cmd = exec.Command(args[0], args[1:]...)
	id := newIdentity(t)
	b.cmd.Env = k.environment(b.temp, id)
	b.pipes(t)
	line, err := b.readHandshake(10 * time.Second)
	if err != nil {
		t.Fatalf("%v; standard error has:\n%s", err, b.stderr.tail())
	}
	b.handshake = line
	b.connect(t, k, id)
	return b
}

// environment is that of a plugin; an identity makes it serve with mutual TLS.
func (k *kit) environment(temp string, id *identity) []string {
	env := append(append(os.Environ(), k.env...),
		protocol.CookieKey+"="+protocol.CookieValue,
		fmt.Sprintf("PLUGIN_PROTOCOL_VERSIONS=%d", protocol.Version),
		"PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000",
		"TMPDIR="+temp)
	if k.mutualTLS && id != nil {
		env = append(env, "PLUGIN_CLIENT_CERT="+string(id.certificate))
	}
	return env
}

// pipes starts the process with outputs of which the test has the reading
// ends.
func (b *bare) pipes(t testing.TB) {
	t.Helper()
	var err error
	var out, errs *os.File
	if b.out, out, err = os.Pipe(); err == nil {
		b.errs, errs, err = os.Pipe()
	}
	fatal(t, "pipes", err)
	b.cmd.Stdout, b.cmd.Stderr = out, errs
	err = b.cmd.Start()
	out.Close()
	errs.Close()
	fatal(t, "starting the binary", err)
	t.Cleanup(func() {
		b.cmd.Process.Kill()
		b.cmd.Wait()
		b.out.Close()
		b.errs.Close()
		<-b.copied
		if t.Failed() {
			t.Logf("the end of standard error:\n%s", b.stderr.tail())
		}
	})
}

// readHandshake reads the first line, and goes on reading for good.
func (b *bare) readHandshake(limit time.Duration) (string, error) {
	first := make(chan string, 1)
	var both sync.WaitGroup
	both.Go(func() {
		r := bufio.NewReader(b.out)
		line, _ := r.ReadString('\n')
		first <- line
		io.Copy(b.rest, r)
	})
	both.Go(func() { io.Copy(b.stderr, b.errs) })
	go func() {
		both.Wait()
		close(b.copied)
	}()
	select {
	case line := <-first:
		if !strings.HasSuffix(line, "\n") {
			return "", fmt.Errorf("with the cookie %s in its environment the binary must print the handshake and serve; it has ended after %q", protocol.CookieKey, line)
		}
		return strings.TrimSuffix(line, "\n"), nil
	case <-time.After(limit):
		return "", fmt.Errorf("with the cookie %s in its environment the binary must print the handshake; it has printed nothing for %v", protocol.CookieKey, limit)
	}
}

// handshakeForm is go-plugin's line: its version, ours, the network, the
// address, gRPC and, for mutual TLS, a certificate.
var handshakeForm = regexp.MustCompile(`^1\|(\d+)\|(unix|tcp)\|([^|]+)\|grpc\|([A-Za-z0-9+/]*)$`)

// connect connects to the address of the handshake.
func (b *bare) connect(t testing.TB, k *kit, id *identity) {
	t.Helper()
	parts := handshakeForm.FindStringSubmatch(b.handshake)
	switch {
	case parts == nil:
		t.Fatalf("the first line on standard output must be the handshake, 1|%d|unix or tcp|ADDRESS|grpc|CERTIFICATE; it is %q", protocol.Version, b.handshake)
	case parts[1] != fmt.Sprint(protocol.Version):
		t.Fatalf("the handshake must name version %d of the protocol: %q", protocol.Version, b.handshake)
	case k.mutualTLS && parts[4] == "":
		t.Fatalf("the host has a certificate in PLUGIN_CLIENT_CERT, so the handshake must end with the plugin's: %q", b.handshake)
	case !k.mutualTLS && parts[4] != "":
		t.Fatalf("the host has no certificate, so the handshake must end without one: %q", b.handshake)
	}
	target := "passthrough:///" + parts[3]
	if parts[2] == "unix" {
		target = "unix:" + parts[3]
		if folder := filepath.Dir(parts[3]); folder != b.temp && filepath.Dir(folder) != b.temp {
			t.Errorf("the socket must be in the folder for temporary files, %s, or in a folder in that, and is %s", b.temp, parts[3])
		}
	}
	credentials, err := id.credentials(parts[4])
	fatal(t, "the certificate of the handshake", err)
	b.conn, err = grpc.NewClient(target, grpc.WithTransportCredentials(credentials))
	fatal(t, "connecting to "+target, err)
	t.Cleanup(func() { b.conn.Close() })
	b.flights = flight.NewClientFromConn(b.conn, nil)
}

// shutDown ends the process as hosts do and waits for it.
func (b *bare) shutDown(ctx context.Context, t testing.TB, limit time.Duration) {
	t.Helper()
	// The service answers, or is gone before it does.
	_ = b.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	ended := make(chan error, 1)
	go func() { ended <- b.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(limit):
		b.cmd.Process.Kill()
		<-ended
		t.Errorf("the binary must end within %v of plugin.GRPCController/Shutdown, and lives", limit)
	}
}

// die is the sudden death of the host: its process, its ends of the pipes and
// its connection.
func (b *bare) die(t testing.TB) {
	t.Helper()
	fatal(t, "killing the host", b.cmd.Process.Kill())
	b.cmd.Wait()
	b.out.Close()
	b.errs.Close()
	b.conn.Close()
}

// healthName is what go-plugin's health service is asked for.
const healthName = goplugin.GRPCServiceName
