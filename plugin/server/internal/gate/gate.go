// Package gate bounds the connections of a listener: how many there are, in all
// and by one peer, and for how long one may stay without having shown a reason to.
// It knows nothing of what is said on them.
package gate

import (
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Config bounds a Listener.
type Config struct {
	// Most is the number of connections at the same time, MostPerPeer of those by
	// one peer: an address of IPv4, a network of 64 bits of IPv6, or the user at
	// the other end of a Unix socket, where the system tells (Linux).
	Most, MostPerPeer int
	// MostPerCaller is the number of connections at the same time on which one
	// caller that is known by name may make calls: see Admit. 0: any.
	MostPerCaller int
	// ProveTime is how long a connection may stay until Admit is called for it.
	// Default (0): for ever.
	ProveTime time.Duration
	// Logger is told of connections that are refused, at most once in LogInterval.
	Logger hclog.Logger
}

// LogInterval is the time between two lines of the log about connections that
// were refused.
const LogInterval = 10 * time.Second

// A Listener closes at once every connection beyond its bounds, so that Accept
// neither waits for one to end nor returns more.
type Listener struct {
	net.Listener
	config Config

	mu      sync.Mutex
	open    int
	peers   map[string]int // open, by peer
	callers map[string]int // open, by caller
	refused Refused
	logged  time.Time // when the log was told last
	quiet   int       // refused since
}

// Stats are figures of the moment.
type Stats struct {
	// Open is the number of connections that there are.
	Open int
	// Refused are those that were closed so far.
	Refused Refused
}

// Refused counts connections that were closed, by why.
type Refused struct {
	// Full were refused since there were Config.Most, FullPeer since there were
	// Config.MostPerPeer of their peer.
	Full, FullPeer int64
	// Unproven were closed after Config.ProveTime.
	Unproven int64
}

// New bounds the connections of a listener.
func New(l net.Listener, c Config) *Listener {
	return &Listener{Listener: l, config: c, peers: make(map[string]int), callers: make(map[string]int)}
}

// Stats returns the figures of the moment.
func (l *Listener) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Open: l.open, Refused: l.refused}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.admit(c); admitted != nil {
			return admitted, nil
		}
		c.Close()
	}
}

// admit counts a connection, or returns nil.
func (l *Listener) admit(c net.Conn) net.Conn {
	peer := peerOf(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.open >= l.config.Most:
		l.refused.Full++
		l.logRefused("connections are refused: there are as many as may be", "most", l.config.Most)
		return nil
	case l.peers[peer] >= l.config.MostPerPeer:
		l.refused.FullPeer++
		l.logRefused("connections of a peer are refused: it has as many as it may", "peer", peer, "most", l.config.MostPerPeer)
		return nil
	}
	l.open++
	l.peers[peer]++
	admitted := &conn{Conn: c, listener: l, peer: peer}
	if l.config.ProveTime > 0 {
		admitted.timer = time.AfterFunc(l.config.ProveTime, admitted.expire)
	}
	return admitted
}

// logRefused is called with the lock.
func (l *Listener) logRefused(message string, args ...any) {
	l.quiet++
	if now := time.Now(); now.Sub(l.logged) >= LogInterval {
		l.config.Logger.Warn(message, append(args, "refused", l.quiet)...)
		l.logged, l.quiet = now, 0
	}
}

// release is called once for every connection that was admitted.
func (l *Listener) release(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	decrement(l.peers, c.peer)
	for _, caller := range c.callers {
		decrement(l.callers, caller)
	}
	c.released = true
}

func decrement(counts map[string]int, key string) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
