package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/gladflow/gladflow/arrowio"
)

// HTTP opens files of web servers, with the user and password of the URL if it
// has them.
func HTTP() Store {
	return Store{schemes: []string{"https", "http"}, open: func(ctx context.Context, l location) (io.ReadCloser, error) {
		return opened(func(b *body) error { return b.openHTTP(ctx, l) })
	}}
}

// openHTTP asks a web server for a file.
func (b *body) openHTTP(ctx context.Context, l location) error {
	if l.Host == "" {
		return fault(l.name, "the URL names no server")
	}
	transport := newTransport()
	b.finally(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.String(), nil)
	if err != nil {
		return l.explain(ctx, err)
	}
	request.Header.Set("User-Agent", "gladflow")
	response, err := client.Do(request)
	if err != nil {
		return l.explain(ctx, err)
	}
	b.finally(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		return l.refused(response.StatusCode)
	}
	in := bufio.NewReaderSize(remote{ctx, response.Body, l}, 512)
	if head, _ := in.Peek(512); isPage(head) {
		return fault(l.name, "the server sends a web page and not a table; use the link of the file itself")
	}
	b.Reader = in
	return nil
}

// newTransport is for one file: who closes its idle connections has closed all.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ResponseHeaderTimeout: time.Minute,
		ForceAttemptHTTP2:     true,
		// The checksum is that of the file as it is stored.
		DisableCompression: true,
	}
}

func checkRedirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) >= 10:
		return errors.New("the server redirects in a circle")
	case before[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("the server redirects from https to http")
	}
	return nil
}

// refused is what a status other than 200 means.
func (l location) refused(status int) error {
	answer := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return &arrowio.InputError{Path: l.name, Err: fs.ErrNotExist,
			Reason: fmt.Sprintf("there is no such file on the server (%s); check the URL", answer)}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &arrowio.InputError{Path: l.name, Err: fs.ErrPermission,
			Reason: fmt.Sprintf("the server denies permission to read it (%s); use a signed link, or put user:password@ before the server's name", answer)}
	case transient(status):
		return fmt.Errorf("reading %s: the server answers %s; try again later", l.name, answer)
	}
	return fault(l.name, "the server answers %s and sends no file; check the URL", answer)
}

// transient tells failures of the server from refusals of what it was asked.
func transient(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// isPage recognises HTML, which is what a server shows in place of a file.
func isPage(head []byte) bool {
	head = bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}
