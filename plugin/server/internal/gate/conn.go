package gate

import (
	"errors"
	"net"
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
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		if c.timer != nil {
			c.timer.Stop()
		}
		c.listener.release(c.peer)
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

// RemoteAddr implements net.Conn. It leads back to the connection, for Prove.
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

// Prove lets the connection stay whose RemoteAddr is given. It does nothing with
// addresses of others.
func Prove(remote net.Addr) {
	if a, ok := remote.(*address); ok && a.conn.timer != nil {
		a.conn.timer.Stop()
	}
}
