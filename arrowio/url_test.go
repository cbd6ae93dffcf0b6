package arrowio

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
		"https://host/x.csv?X-Amz-Signature=SECRET#y": "https://host/x.csv?…",
	} {
		got := Redacted(path)
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if isURL(path) && strings.Contains(got, "SECRET") {
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
		"file:///data/a%20b.csv": "/data/a b.csv", "FILE://localhost/x": "/x", "file:///a/../b": "/a/../b",
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
	} {
		if got := beside(path, "-more"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestFileURL(t *testing.T) {
	path, err := filepath.Abs(put(t, "a b.csv", "x,y\n1,2\n3,4\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), "file://"+strings.ReplaceAll(filepath.ToSlash(path), " ", "%20"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if s.file == nil {
		t.Error("a file is not read by position")
	}
	for url, words := range map[string][]string{
		"file:///no/such/file.csv":                {"file:///no/such/file.csv", "no such file"},
		"file://data/x.csv":                       {"whole path", "file:///data/samples.csv"},
		"file://" + filepath.ToSlash(t.TempDir()): {"folder"},
		"ftp://host/x.csv":                        {"ftp", schemeList},
		"s3a://bucket/x.csv":                      {"s3a", schemeList},
		"https://host/%zz":                        {"RFC 3986"},
		"https://host/x#y":                        {"%23"},
		"https:///x.csv":                          {"no server"},
	} {
		_, err := open(t.Context(), url, nil)
		wantInputError(t, err, words...)
	}
}
