package plugin

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
)

// A startLog keeps back what go-plugin complains of while a plugin starts: it
// stands in the error that Launch returns. What the plugin itself logs passes,
// and its last words are kept for that error.
type startLog struct {
	hclog.Logger
	binary string // its name
	tail   *tail
	open   *atomic.Bool
}

func newStartLog(l hclog.Logger, binary string) *startLog {
	return &startLog{Logger: l, binary: binary, tail: &tail{}, open: new(atomic.Bool)}
}

// started lets everything through.
func (l *startLog) started() {
	l.open.Store(true)
	l.tail.stop()
}

// Named implements hclog.Logger. The logger of what the plugin writes, named
// after its binary, is not held back.
func (l *startLog) Named(name string) hclog.Logger {
	if name == "stdio" { // a part of go-plugin
		return &startLog{Logger: l.Logger.Named(name), binary: l.binary, tail: l.tail, open: l.open}
	}
	return l.Logger.Named(l.binary) // name is that of a descriptor if it was checked
}

// Warn implements hclog.Logger.
func (l *startLog) Warn(msg string, args ...any) {
	if l.open.Load() {
		l.Logger.Warn(msg, args...)
	}
}

// Error implements hclog.Logger.
func (l *startLog) Error(msg string, args ...any) {
	if l.open.Load() {
		l.Logger.Error(msg, args...)
	}
}

// A tail keeps the last bytes that were written to it, until it is stopped.
type tail struct {
	mu      sync.Mutex
	b       []byte
	stopped bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return len(p), nil
	}
	const most = 4000
	t.b = append(t.b, p...)
	if n := len(t.b) - most; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b, t.stopped = nil, true
}

// quote is what was written, as the end of a clause.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.b) == 0 {
		return ""
	}
	const most = 400
	return fmt.Sprintf(" (its last words: %q)", shorten(string(t.b[max(0, len(t.b)-most):])))
}
