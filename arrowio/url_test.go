package arrowio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/uri"
)

func TestRedacted(t *testing.T) {
	for path, want := range map[string]string{
		"data/samples.csv":                            "data/samples.csv",
		`C:\data\samples.csv`:                         `C:\data\samples.csv`,
		"odd?name#1.csv":                              "odd?name#1.csv",
		"-":                                           "-",
		"s3://bucket/a/b.parquet":                     "s3://bucket/a/b.parquet",
		"s3://bucket/b.csv?region=x":                  "s3://bucket/b.csv?…",
		"azblob://c/k?sv=1&sig=SECRET":                "azblob://c/k?…",
		"https://user:SECRET@host:8080/x.csv":         "https://host:8080/x.csv",
		"https://SECRET@host/x@2.csv?a=b":             "https://host/x@2.csv?…",
		"https://[::1]:80/x.csv#SECRET":               "https://[::1]:80/x.csv?…",
		"https://host?SECRET/x.csv":                   "https://host?…",
		"https://user:SEC/RET@host/x.csv":             "https://…",
		"https://user:SEC?RET@host/x.csv":             "https://…",
		"https://user:1/SECRET@host/x.csv":            "https://…",
		"HTTPS://user:SECRET@host/%zz":                "HTTPS://host/%zz",
		"https://user:SEC@RET@host/":                  "https://host/",
		"s3://AKIA:SECRET@bucket/k":                   "s3://bucket/k",
		"ftp://user:SECRET@host/x":                    "ftp://host/x",
		"file:/data/b.csv":                            "file:/data/b.csv",
		"file:/data/b.csv?SECRET":                     "file:/data/b.csv?…",
		"https:/user:SECRET@host/x.csv":               "https:/host/x.csv",
		"https:/user:SEC/RET@host/x.csv":              "https:/…",
		"https://host/x.csv?X-Amz-Signature=SECRET#y": "https://host/x.csv?…",
	} {
		got := Redacted(path)
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if uri.Is(path) && strings.Contains(got, "SECRET") {
			t.Errorf("%s: shown as %s", path, got)
		}
	}
}

func TestLocalPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other paths")
	}
	for path, want := range map[string]string{
		"a/b.csv": "a/b.csv", "-": "-", "": "", "a:b.csv": "a:b.csv",
		"file:///data/a%20b.csv": "/data/a b.csv", "FILE://localhost/x": "/x", "file:/data/a%20b.csv": "/data/a b.csv", "file:/": "", "s3:/bucket/key": "", "file:///a/../b": "/a/../b",
		"file://data/x.csv": "", "file:///": "", "file:///x?y=z": "", "file://u:p@localhost/x": "",
		"file:///x#y": "", "s3://bucket/key": "", "http://host/x": "", "ftp://host/x": "", "file:///%zz": "",
	} {
		got, ok := LocalPath(path)
		if got != want || ok != (want != "" || path == "") {
			t.Errorf("%s: %q, %v, want %q", path, got, ok, want)
		}
	}
}

func TestFormatOfURL(t *testing.T) {
	for path, want := range map[string]format{
		"https://host/x.parquet?name=y.csv":  parquetFormat,
		"https://host/x.CSV.gz?sig=a.b":      csvFormat,
		"s3://bucket.tsv/x?endpoint=http://": unknownFormat,
		"https://host/x?file=y.csv":          unknownFormat,
		"file?.csv":                          csvFormat, // no URL
	} {
		if got := formatOfExtension(pathOf(path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestBeside(t *testing.T) {
	for path, want := range map[string]string{
		"a.csv":              "a.csv-more",
		"what?.csv":          "what?.csv-more",
		"s3://b/k.csv?r=1":   "s3://b/k.csv-more?r=1",
		"gs://b/k.csv":       "gs://b/k.csv-more",
		"HTTPS://h/k.csv":    "",
		"http://h/k.csv?a=b": "",
		"file:///k.csv":      "file:///k.csv-more",
		"file:/k.csv":        "file:/k.csv-more",
		"http:/h/k.csv":      "",
	} {
		if got := beside(path, "-more"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Without stores a URL is refused, in words without its secrets.
func TestURLWithoutStores(t *testing.T) {
	for _, path := range []string{"file:///x.csv", "s3://bucket/x.csv?sig=SECRET", "https://user:SECRET@host/x.csv"} {
		_, err := OpenSamples(t.Context(), path, SampleOptions{})
		wantInputError(t, err, Redacted(path)+": this is a URL, and only files are opened here")
		_, err = ReadEdges(t.Context(), path, ListOptions{})
		wantInputError(t, err, "only files are opened here")
	}
}

// An opened is what an Opener gives: bytes that come once.
type opened struct {
	io.Reader
	closed *int
}

func (o opened) Close() error { *o.closed++; return nil }

// A memoryStore opens URLs of what it holds.
type memoryStore struct {
	files  map[string]string
	closed int
}

func (m *memoryStore) Open(_ context.Context, url string) (io.ReadCloser, error) {
	text, ok := m.files[url]
	if !ok {
		return nil, &InputError{Path: Redacted(url), Reason: "there is no such file", Err: fs.ErrNotExist}
	}
	return opened{strings.NewReader(text), &m.closed}, nil
}

// Everything that reads goes through the opener, side files as well, and closes
// what it has opened.
func TestOpener(t *testing.T) {
	m := &memoryStore{files: map[string]string{
		"mem://a/samples.csv?k=v": "x,y\n1,2\n3,4\n", "mem://a/square.csv": "x,y\n1,0\n0,1\n",
		"mem://a/edges.csv?k=v": "source,target\nx,y\n", "mem://a/edges.csv-metadata.json?k=v": `{"notes":[{"a":"b"}]}`,
	}}
	if r, err := readAll(t.Context(), "mem://a/samples.csv?k=v", SampleOptions{Stores: m}); err != nil || r.rows != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, _, err := ReadSquare(t.Context(), "mem://a/square.csv", SampleOptions{Stores: m}); err != nil {
		t.Error(err)
	}
	if e, err := ReadEdges(t.Context(), "mem://a/edges.csv?k=v", ListOptions{Stores: m}); err != nil || e.Metadata["a"] != "b" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := ReadReference(t.Context(), "mem://a/none.csv", ListOptions{Stores: m}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if m.closed != 4 {
		t.Errorf("%d of 4 are closed", m.closed)
	}
}
