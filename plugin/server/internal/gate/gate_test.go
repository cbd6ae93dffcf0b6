package gate

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/plugin/internal/logtest"
)

// accepting accepts until the end of the test.
func accepting(t *testing.T, l net.Listener, c Config) (*Listener, <-chan net.Conn) {
	t.Helper()
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	g := New(l, c)
	accepted := make(chan net.Conn, 100)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := g.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	})
	t.Cleanup(func() {
		g.Close()
		done.Wait()
	})
	return g, accepted
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err)
	}
	return l
}

// connect connects from an address.
func connect(t *testing.T, to net.Addr, from string) net.Conn {
	t.Helper()
	d := net.Dialer{Timeout: 5 * time.Second}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.DialContext(t.Context(), to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// closed says whether the other side closes within a time.
func closed(t *testing.T, c net.Conn, within time.Duration) bool {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	return err != nil && !(ok && timeout.Timeout())
}

// A peer that has its share is refused, while another is let in, until all are
// too many; whoever leaves makes room.
func TestBounds(t *testing.T) {
	var log logtest.Log
	g, accepted := accepting(t, listen(t, "tcp", "127.0.0.1:0"), Config{
		Most: 3, MostPerPeer: 2, Logger: hclog.New(&hclog.LoggerOptions{Output: &log}),
	})
	connect(t, g.Addr(), "127.0.0.1")
	leaver := connect(t, g.Addr(), "127.0.0.1")
	<-accepted
	atServer := <-accepted
	for range 3 {
		if !closed(t, connect(t, g.Addr(), "127.0.0.1"), 5*time.Second) {
			t.Error("a third connection of a peer is not closed")
		}
	}
	connect(t, g.Addr(), "127.0.0.2")
	<-accepted
	if !closed(t, connect(t, g.Addr(), "127.0.0.3"), 5*time.Second) {
		t.Error("a fourth connection is not closed")
	}
	if s := g.Stats(); s != (Stats{Open: 3, Refused: Refused{Full: 1, FullPeer: 3}}) {
		t.Errorf("%+v", s)
	}
	leaver.Close()
	if _, err := atServer.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	atServer.Close()
	atServer.Close() // counts once
	connect(t, g.Addr(), "127.0.0.1")
	<-accepted
	if s := g.Stats(); s.Open != 3 {
		t.Errorf("%+v", s)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.peers) != 2 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%d peers, and the log\n%s", len(g.peers), log.String())
	}
}

// A connection that nobody vouches for is closed; one that is stays.
func TestProve(t *testing.T) {
	g, accepted := accepting(t, listen(t, "tcp", "127.0.0.1:0"), Config{Most: 9, MostPerPeer: 9, ProveTime: 100 * time.Millisecond})
	good := connect(t, g.Addr(), "")
	Admit((<-accepted).RemoteAddr(), "")
	bad := connect(t, g.Addr(), "")
	Admit((<-accepted).LocalAddr(), "")
	if !closed(t, bad, 5*time.Second) {
		t.Error("a connection stays that nobody has vouched for")
	}
	if closed(t, good, 300*time.Millisecond) {
		t.Error("a connection is closed that was vouched for")
	}
	if s := g.Stats(); s != (Stats{Open: 1, Refused: Refused{Unproven: 1}}) {
		t.Errorf("%+v", s)
	}
}

// A caller has calls on so many connections, whatever addresses they come from, and
// one that it closes makes room. Callers on one connection count each.
func TestCallers(t *testing.T) {
	g, accepted := accepting(t, listen(t, "tcp", "127.0.0.1:0"), Config{Most: 9, MostPerPeer: 9, MostPerCaller: 2, ProveTime: time.Minute})
	var conns []net.Conn
	for _, from := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		connect(t, g.Addr(), from)
		conns = append(conns, <-accepted)
	}
	admits := func(i int, caller string, want bool) {
		t.Helper()
		if Admit(conns[i].RemoteAddr(), caller) != want {
			t.Errorf("connection %d of %q: %v", i, caller, !want)
		}
	}
	for range 3 { // a connection counts once
		admits(0, "alice", true)
		admits(1, "alice", true)
	}
	admits(2, "alice", false)
	admits(2, "bob", true)
	admits(2, "", true)
	admits(0, "bob", true)
	admits(1, "bob", false)
	conns[0].Close()
	admits(0, "carol", true) // it has ended, and counts for nobody
	admits(2, "alice", true)
	admits(1, "bob", true)
	for _, c := range conns {
		c.Close()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.callers) != 0 || g.open != 0 {
		t.Errorf("%v, %d open", g.callers, g.open)
	}
}

type fakeConn struct {
	net.Conn
	remote net.Addr
}

func (c fakeConn) RemoteAddr() net.Addr { return c.remote }

func TestPeer(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "::1": "::/64",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64",
	} {
		if got := peerOf(fakeConn{remote: &net.TCPAddr{IP: net.ParseIP(text), Port: 7, Zone: "eth0"}}); got != want {
			t.Errorf("%s is of %s, not %s", text, got, want)
		}
	}
}

// A Unix socket tells on Linux which user it is.
func TestPeerOfSocket(t *testing.T) {
	g, accepted := accepting(t, listen(t, "unix", filepath.Join(t.TempDir(), "s")), Config{Most: 9, MostPerPeer: 1})
	connect(t, g.Addr(), "")
	c := (<-accepted).(*conn)
	if c.peer != "unix" && !strings.HasPrefix(c.peer, "uid ") {
		t.Errorf("the peer is %q", c.peer)
	}
	if !closed(t, connect(t, g.Addr(), ""), 5*time.Second) {
		t.Error("a second connection of the same user is not closed")
	}
}

func TestRoom(t *testing.T) {
	for files, want := range map[uint64]int{0: 0, 1: 1, 64: 32, 256: 128, 300: 172, 1024: 768, 20000: 15000, 1 << 62: 0} {
		if got := room(files); got != want {
			t.Errorf("%d files leave room for %d connections, not %d", files, got, want)
		}
	}
}
