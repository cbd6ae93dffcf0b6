package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
)

func TestFileURL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.csv")
	if err := os.WriteFile(path, []byte("x,y\n1,2\n3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := "file://" + strings.ReplaceAll(filepath.ToSlash(path), " ", "%20")
	in, err := All().Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := in.(*os.File); !ok {
		t.Error("a file is not read by position")
	}
	in.Close()
	if r, err := readAll(t.Context(), at, arrowio.SampleOptions{}); err != nil || r.rows != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for url, words := range map[string][]string{
		"file:///no/such/file.csv":                {"file:///no/such/file.csv", "no such file"},
		"file://data/x.csv":                       {"whole path", "file:///data/samples.csv"},
		"file://" + filepath.ToSlash(t.TempDir()): {"folder"},
		"ftp://host/x.csv":                        {"ftp", "use one of s3, gs, azblob, https, http, file"},
		"s3a://bucket/x.csv":                      {"s3a", "azblob"},
		"https://host/%zz":                        {"RFC 3986"},
		"https://host/x#y":                        {"%23"},
		"https:///x.csv":                          {"no server"},
	} {
		_, err := All().Open(t.Context(), url)
		wantInputError(t, err, words...)
	}
}

// A program links the stores that it names and no other.
func TestStoresOfOne(t *testing.T) {
	_, err := Stores{File()}.Open(t.Context(), "s3://bucket/key")
	wantInputError(t, err, "URLs of the scheme s3 are not read; use one of file")
}
