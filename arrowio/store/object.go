package store

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/blob"
)

// objects is one kind of object store. The credentials are those that its
// provider's own tools use; parameters of the URL cannot send them elsewhere.
type objects struct {
	scheme string
	// parameters are those that its URLs may have.
	parameters []string
	// credentials are where they are looked for, for messages.
	credentials string
	// missing are words by which its client says that it finds none.
	missing []string
	// answer is the HTTP status in an error of its client, 0 for none, and the
	// store's own word for it; nil for clients whose errors have methods.
	answer func(error) (status int, code string)
	// advice is a sentence for an error that only this store has, or empty.
	advice func(error) string
	open   func(ctx context.Context, b *body, l location, key string, transport *http.Transport) error
}

func (o *objects) store() Store {
	return Store{schemes: []string{o.scheme}, open: func(ctx context.Context, l location) (io.ReadCloser, error) {
		return opened(func(b *body) error { return o.openObject(ctx, b, l) })
	}}
}

// openObject opens scheme://bucket/key?parameters.
func (o *objects) openObject(ctx context.Context, b *body, l location) error {
	l.store = o
	key := strings.TrimPrefix(l.Path, "/")
	switch {
	case l.User != nil:
		return fault(l.name, "credentials do not go into the URL; they are looked for in %s", o.credentials)
	case l.Host == "":
		return fault(l.name, "the URL names no bucket; write %s://bucket/key", l.Scheme)
	case key == "" || strings.HasSuffix(key, "/"):
		return fault(l.name, "this is a bucket or a folder of one; name an object in it, as %s://bucket/key", l.Scheme)
	}
	parameters, err := url.ParseQuery(l.RawQuery)
	if err != nil {
		return fault(l.name, "the parameters of the URL are not written as name=value&name=value")
	}
	for p, values := range parameters {
		if !slices.Contains(o.parameters, p) || len(values) > 1 {
			// The parameter is not named: it may be a token.
			return fault(l.name, "the URL has a parameter that is unknown or given twice; %s URLs take %s, and credentials are looked for in %s",
				l.Scheme, strings.Join(o.parameters, ", "), o.credentials)
		}
	}
	for _, p := range []string{"anonymous", "use_path_style"} {
		if v := parameters.Get(p); v != "" && v != "true" && v != "false" {
			return fault(l.name, "the parameter %s is true or false", p)
		}
	}
	transport := newTransport()
	b.finally(transport.CloseIdleConnections)
	return o.open(ctx, b, l, key, transport)
}

// openIn opens an object of a bucket.
func (b *body) openIn(ctx context.Context, bucket *blob.Bucket, l location, key string) error {
	b.finally(func() { bucket.Close() })
	reader, err := bucket.NewReader(ctx, key, nil)
	if err != nil {
		return l.explain(ctx, err)
	}
	b.finally(func() { reader.Close() })
	b.Reader = remote{ctx, reader, l}
	return nil
}
