// Package store opens inputs that are URLs: objects of Amazon S3, Google Cloud
// Storage and Azure, files of web servers and of this machine. It links their
// clients, so whoever reads plain files leaves it out.
//
//	samples, err := arrowio.OpenSamples(ctx, "s3://bucket/table.parquet",
//		arrowio.SampleOptions{Stores: store.All()})
//
// Credentials are those that a provider's own tools use. Neither they nor the
// parameters of a URL get into an error.
package store

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
)

// A Store opens the URLs of some schemes.
type Store struct {
	schemes []string
	open    func(ctx context.Context, l location) (io.ReadCloser, error)
}

// Stores open the URLs of each of them. They are an arrowio.Opener.
type Stores []Store

// All returns every store there is: a new one is a line here and a file of its
// own.
func All() Stores { return Stores{S3(), GS(), Azure(), HTTP(), File()} }

var _ arrowio.Opener = Stores(nil)

// Open implements arrowio.Opener.
func (s Stores) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	name := arrowio.Redacted(path)
	// The parser's own words quote parts of the URL that may be secret.
	u, err := url.Parse(path)
	if err != nil || u.Fragment != "" {
		return nil, fault(name, "this is not a URL as RFC 3986 has it; write a space as %%20, %% as %%25, ? as %%3F and # as %%23")
	}
	var known []string
	for _, store := range s {
		if slices.Contains(store.schemes, u.Scheme) {
			return store.open(ctx, location{URL: u, name: name})
		}
		known = append(known, store.schemes...)
	}
	return nil, fault(name, "URLs of the scheme %s are not read; use one of %s", u.Scheme, strings.Join(known, ", "))
}
