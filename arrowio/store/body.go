package store

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
)

// A location is a URL that is being opened.
type location struct {
	*url.URL
	name  string   // without secrets, for messages
	store *objects // nil for a web server
}

// fault is the error of a URL that cannot be read.
func fault(name, format string, args ...any) *arrowio.InputError {
	return &arrowio.InputError{Path: name, Reason: fmt.Sprintf(format, args...)}
}

// A body is what a server sends, and what ends with it.
type body struct {
	io.Reader
	closers []func() // called last to first
}

// finally has f called by Close.
func (b *body) finally(f func()) { b.closers = append(b.closers, f) }

// Close implements io.Closer. What has been read has been read, whatever the
// closing of a connection brings.
func (b *body) Close() error {
	for _, f := range slices.Backward(b.closers) {
		f()
	}
	b.closers = nil
	return nil
}

// opened returns what open makes of a body, and leaves nothing open if it fails.
func opened(open func(b *body) error) (io.ReadCloser, error) {
	b := &body{}
	if err := open(b); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// A remote reads a URL's bytes.
type remote struct {
	ctx context.Context
	in  io.Reader
	at  location
}

func (r remote) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && err != io.EOF {
		if r.ctx.Err() != nil {
			return n, r.ctx.Err()
		}
		err = r.at.clean(err)
	}
	return n, err
}
