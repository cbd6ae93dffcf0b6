package gate

import (
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A conn is a connection that was admitted.
type conn struct {
	net.Conn
	listener *Listener
	peer     string
	timer    *time.Timer // nil if it may stay
	once     sync.Once

	// Guarded by the listener's lock.
	callers  []string // that have made calls
	released bool
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.listener.release(c)
	})
	return c.Conn.Close()
}

// expire closes a connection that has not been proved.
func (c *conn) expire() {
	c.listener.mu.Lock()
	c.listener.refused.Unproven++
	c.listener.mu.Unlock()
	c.Close()
}

// RemoteAddr implements net.Conn. It leads back to the connection, for Admit.
func (c *conn) RemoteAddr() net.Addr { return &address{c.Conn.RemoteAddr(), c} }

// SyscallConn implements syscall.Conn: gRPC reads without holding memory where it
// can ask whether there is something to read.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// An address is that of the other end of a conn.
type address struct {
	net.Addr
	conn *conn
}

// Admit says whether a caller may make a call on the connection whose RemoteAddr is
// given: not if the connection would be one more than Config.MostPerCaller. The
// connection may stay then. caller is empty for one that is not known by name. Admit
// does nothing with addresses of others.
func Admit(remote net.Addr, caller string) bool {
	a, ok := remote.(*address)
	if !ok {
		return true
	}
	if !a.conn.takeCaller(caller) {
		return false
	}
	if a.conn.timer != nil {
		a.conn.timer.Stop()
	}
	return true
}

// takeCaller counts the connection as one of the caller's, or says that it has as
// many as it may.
func (c *conn) takeCaller(caller string) bool {
	l := c.listener
	if caller == "" || l.config.MostPerCaller == 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.released || slices.Contains(c.callers, caller):
		return true
	case l.callers[caller] >= l.config.MostPerCaller:
		return false
	}
	c.callers = append(c.callers, caller)
	l.callers[caller]++
	return true
}
