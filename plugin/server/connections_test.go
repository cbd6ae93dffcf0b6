package server

import (
	"context"
	wire "encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/gate"
)

// dialFrom dials from an address of this machine, or skips the test.
func dialFrom(t testing.TB, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	c, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// from makes a client call from an address of this machine.
func from(ip string) grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}).DialContext(ctx, "tcp", to)
	})
}

func (s *serving) awaitConnections(t testing.TB, n int) {
	t.Helper()
	eventually(t, "the number of connections is another", func() bool { return s.listener.Stats().Open == n })
}

// A peer with a thousand connections on which nothing happens has a hundred, and
// does not stop another's call.
func TestManyConnectionsOfOnePeer(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:0"})
	dialFrom(t, "127.0.0.2", l.target).Close() // skips where there is one loopback address
	l.awaitConnections(t, 0)
	const many = 1000
	conns := make([]net.Conn, many)
	for i := range conns {
		conns[i] = dialFrom(t, "127.0.0.1", l.target)
	}
	eventually(t, "connections are left waiting", func() bool {
		s := l.listener.Stats()
		return s == gate.Stats{Open: DefaultMaxConnectionsPerPeer, Refused: gate.Refused{FullPeer: many - DefaultMaxConnectionsPerPeer}}
	})
	start := time.Now()
	if _, err := flighttest.Action(t.Context(), dial(t, l.target, from("127.0.0.2")), protocol.ActionSolvers, nil); err != nil {
		t.Errorf("another peer: %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the call of another peer took %v", took)
	}
	if _, err := flighttest.Action(t.Context(), dial(t, l.target), protocol.ActionSolvers, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("the peer itself: %v", err)
	}
	_, text := fetch(t, "http://"+l.MetricsAddress()+"/metrics")
	for _, want := range []string{"gladflow_connections ", "gladflow_connections_refused_total{", `gladflow_reason="peer"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	for _, c := range conns {
		c.Close()
	}
	l.awaitConnections(t, 1)
}

// Parts of HTTP/2, written by hand, so that they can be written in pieces.
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameData    = 0
	frameHeaders = 1
	settings     = 4
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	f := wire.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
	f = append(f, kind, flags)
	f = wire.BigEndian.AppendUint32(f, stream)
	return append(f, payload...)
}

// headers are those of a call, each a literal of HPACK's.
func headers(method string) []byte {
	var b []byte
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/" + flightService + "/" + method}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		b = append(b, 0, byte(len(h[0])))
		b = append(b, h[0]...)
		b = append(b, byte(len(h[1])))
		b = append(b, h[1]...)
	}
	return b
}

// dribble writes byte by byte until the other side closes.
func dribble(c net.Conn, whole string) {
	for i := 0; ; i = (i + 1) % len(whole) {
		if _, err := c.Write([]byte{whole[i]}); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Whoever sends a byte now and then does not keep a connection that has not made a
// call, and neither does whoever makes calls without a token.
func TestSlowConnections(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.pair(t, 2)
	plain := ListenConfig{Insecure: true}
	begun := preface + string(frame(settings, 0, 0, nil))
	slowHeaders := string(frame(frameHeaders, 4, 1, append(headers("DoPut"), make([]byte, 8000)...)))
	for name, c := range map[string]struct {
		config ListenConfig
		first  string // sent at once
		slow   string // sent byte by byte
	}{
		"nothing":            {plain, "", ""},
		"TLS, nothing":       {ListenConfig{CertFile: cert, KeyFile: key}, "", ""},
		"TLS, a hello":       {ListenConfig{CertFile: cert, KeyFile: key}, "\x16\x03\x01\x20\x00\x01\x00\x1f\xfc\x03\x03", strings.Repeat("x", 8000)},
		"half a preface":     {plain, preface[:len(preface)/2], ""},
		"a slow preface":     {plain, "", preface[:len(preface)-1] + strings.Repeat("\n", 8000)},
		"a preface, no more": {plain, begun, ""},
		"slow headers":       {plain, begun, slowHeaders},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patience{handshake: 300 * time.Millisecond, prove: 900 * time.Millisecond, idle: time.Minute}
			l := listeningOnce(t, c.config, p)
			conn := dialFrom(t, "127.0.0.1", l.target)
			start := time.Now()
			if _, err := io.WriteString(conn, c.first); err != nil {
				t.Fatal(err)
			}
			if c.slow != "" {
				go dribble(conn, c.slow)
			}
			if err := conn.SetReadDeadline(start.Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection is still there after 10 s")
			}
			limit := p.handshake
			if strings.HasPrefix(c.first, preface) {
				limit = p.prove
			}
			took := time.Since(start)
			t.Logf("closed after %v", took)
			if took < limit-50*time.Millisecond {
				t.Errorf("closed after %v already", took)
			}
			l.awaitConnections(t, 0)
		})
	}
}

// listeningOnce is listeningWith for tests beside which others run.
func listeningOnce(t *testing.T, c ListenConfig, p patience) *serving {
	t.Helper()
	c.Address = "127.0.0.1:0"
	l, err := listen(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	s := &serving{Listener: l, target: l.listener.Addr().String(), end: end, ended: make(chan error, 1)}
	go func() { s.ended <- l.Serve(ctx) }()
	t.Cleanup(func() {
		end()
		l.Stop()
		<-s.ended
	})
	return s
}

// Calls that are not let in do not keep a connection, those that are do; what has
// no call for long is told to go.
func TestConnectionsWithoutACall(t *testing.T) {
	path := tokenFile(t, "token\n")
	l := listeningWith(t, ListenConfig{Insecure: true, TokenFile: path}, patience{handshake: time.Second, prove: time.Second, idle: 2 * time.Second})
	good, bad := dial(t, l.target), dial(t, l.target)
	if _, err := flighttest.Action(bearer(t.Context(), "Bearer token"), good, protocol.ActionSolvers, nil); err != nil {
		t.Fatal(err)
	}
	watch, err := grpc_health_v1.NewHealthClient(bad).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = watch.Recv()
		_, unknown := flighttest.Action(bearer(t.Context(), "Bearer nokent"), bad, protocol.ActionSolvers, nil)
		if code := status.Code(unknown); code != codes.Unauthenticated && code != codes.Unavailable {
			t.Fatal(unknown)
		}
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the watch of health ends with %v", err)
	}
	if s := l.listener.Stats(); s.Refused.Unproven != 1 {
		t.Errorf("%+v", s)
	}
	bad.Close()
	l.awaitConnections(t, 1)
	l.awaitConnections(t, 0) // by itself
	if _, err := flighttest.Action(bearer(t.Context(), "Bearer token"), good, protocol.ActionSolvers, nil); err != nil {
		t.Errorf("after the connection was let go: %v", err)
	}
}

// A message that arrives byte by byte ends the call when it takes longer than a
// caller may be idle, and headers that are too long are refused.
func TestSlowMessage(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, Config: Config{Limits: protocol.Limits{IdleSeconds: 0.5}}})
	for _, method := range []string{"DoPut", "DoExchange", "DoGet", "DoAction", "GetFlightInfo"} {
		conn := dialFrom(t, "127.0.0.1", l.target)
		start := time.Now()
		message := append([]byte{0}, wire.BigEndian.AppendUint32(nil, 1<<20)...)
		first := preface + string(frame(settings, 0, 0, nil)) + string(frame(frameHeaders, 4, 1, headers(method))) + string(frame(frameData, 0, 1, message))
		if _, err := io.WriteString(conn, first); err != nil {
			t.Fatal(err)
		}
		go dribble(conn, string(frame(frameData, 0, 1, []byte{0})))
		awaitTrailers(t, conn)
		if took := time.Since(start); took < 400*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s ended after %v", method, took)
		}
		conn.Close()
		l.awaitConnections(t, 0)
	}

	ctx := bearer(t.Context(), strings.Repeat("x", 2*maxHeaders))
	if _, err := flighttest.Action(ctx, dial(t, l.target), protocol.ActionSolvers, nil); err == nil {
		t.Error("a header of 64 KiB is taken")
	}
}

// awaitTrailers reads to the end of a call.
func awaitTrailers(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			t.Fatalf("the call did not end: %v", err)
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		if head[3] == frameHeaders && head[4]&1 != 0 { // the end of the stream
			return
		}
	}
}

// A call without its token is refused before anything of its message has arrived.
func TestTokenBeforeTheMessage(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, TokenFile: tokenFile(t, "token\n")})
	for _, method := range []string{"GetFlightInfo", "DoAction", "DoPut"} {
		conn := dialFrom(t, "127.0.0.1", l.target)
		first := preface + string(frame(settings, 0, 0, nil)) + string(frame(frameHeaders, 4, 1, headers(method)))
		if _, err := io.WriteString(conn, first); err != nil {
			t.Fatal(err)
		}
		awaitTrailers(t, conn)
		conn.Close()
	}
}

// A caller has so many connections, with whatever tokens of its name, and makes room
// for itself by closing one.
func TestConnectionsOfACaller(t *testing.T) {
	l := listening(t, ListenConfig{
		Insecure: true, MaxConnectionsPerCaller: 1,
		TokenFile: tokenFile(t, "# caller: alice\none\n# caller: alice\ntwo\n# caller: bob\nthree\n"),
	})
	call := func(conn *grpc.ClientConn, token string) error {
		_, err := flighttest.Action(bearer(t.Context(), "Bearer "+token), conn, protocol.ActionSolvers, nil)
		return err
	}
	first, second := dial(t, l.target), dial(t, l.target)
	for range 2 {
		if err := call(first, "one"); err != nil {
			t.Fatal(err)
		}
	}
	wantFault(t, call(second, "two"), codes.ResourceExhausted, protocol.ReasonLimit, "")
	if err := call(second, "three"); err != nil {
		t.Errorf("another caller: %v", err)
	}
	first.Close()
	l.awaitConnections(t, 1)
	if err := call(second, "two"); err != nil {
		t.Errorf("after the first connection: %v", err)
	}
}

// More connections than there are files cannot be asked for.
func TestBoundsOfConnections(t *testing.T) {
	for _, c := range []struct {
		config     ListenConfig
		room       int
		most, peer int
		wrong      string
	}{
		{ListenConfig{}, 0, 1000, 100, ""},
		{ListenConfig{}, 5000, 1000, 100, ""},
		{ListenConfig{}, 128, 128, 100, ""},
		{ListenConfig{MaxConnections: 128, MaxConnectionsPerPeer: 128}, 128, 128, 128, ""},
		{ListenConfig{MaxConnections: 129}, 128, 0, 0, "choose 128 at most"},
		{ListenConfig{MaxConnections: -1}, 128, 0, 0, "choose more than 0"},
		{ListenConfig{MaxConnectionsPerPeer: -1}, 128, 0, 0, "choose more than 0"},
		{ListenConfig{MaxConnectionsPerCaller: -1}, 128, 0, 0, "choose more than 0"},
	} {
		var log logtest.Log
		c.config.Logger = logTo(&log)
		err := c.config.boundConnections(c.room)
		var wrong *SettingError
		switch {
		case c.wrong != "":
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%+v: %v", c, err)
			}
		case err != nil || c.config.MaxConnections != c.most || c.config.MaxConnectionsPerPeer != c.peer:
			t.Errorf("%+v: %v", c, err)
		case (c.most < DefaultMaxConnections && c.config.MaxConnectionsPerPeer == DefaultMaxConnectionsPerPeer) != (log.String() != ""):
			t.Errorf("%+v: the log is %q", c, log.String())
		}
	}
}

func logTo(w io.Writer) hclog.Logger { return hclog.New(&hclog.LoggerOptions{Output: w}) }
