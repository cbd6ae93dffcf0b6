// Package logtest has the log of a test: what a logger that still runs writes into
// while the test reads it.
package logtest

import (
	"io"
	"strings"
	"sync"
)

// A Log keeps what is written to it. Several goroutines may write and read.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

var _ io.Writer = (*Log)(nil)

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Len is the number of bytes that were written so far.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}
