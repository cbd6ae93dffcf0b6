package arrowio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gladflow/gladflow/arrowio/uri"
)

// FuzzURL shows no secret of a URL, however it is written.
func FuzzURL(f *testing.F) {
	for _, s := range [][4]string{
		{"https", "user", "host:80", "/x.csv?a"}, {"s3", "", "bucket", "/k#f"}, {"file", "", "", "/data/a%20b.csv"},
		{"http", "u:v/w", "[::1]", "/@"}, {"gs", "a@b", "c", ""}, {"ftp", "?", "h", "//"}, {"x", "#", "", "\xff"},
	} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, scheme, user, host, rest string) {
		const secret = "zqSECRETqz"
		for _, text := range []string{scheme, user, host, rest} {
			if !utf8.ValidString(text) || strings.Contains(text, "SECRET") {
				return
			}
		}
		for _, path := range []string{
			scheme + "://" + user + ":" + secret + "@" + host + rest,
			scheme + "://" + secret + "@" + host,
			scheme + "://" + host + "/" + user + "?" + rest + secret,
			scheme + "://" + host + "#" + secret,
		} {
			shown := Redacted(path)
			if uri.Is(path) && strings.Contains(shown, secret) {
				// What ends the authority makes the rest a path, which is shown.
				if strings.ContainsAny(user+host, "/") {
					continue
				}
				t.Errorf("%q is shown as %q", path, shown)
			}
			if again := Redacted(shown); again != shown && !strings.HasSuffix(shown, "…") {
				t.Errorf("%q is shown as %q, and that as %q", path, shown, again)
			}
			local, ok := LocalPath(path)
			if ok && uri.Is(path) && (!filepath.IsAbs(local) || strings.Contains(shown, "@")) {
				t.Errorf("%q is the file %q", path, local)
			}
			format, at := formatOfExtension(pathOf(path)), beside(path, "-suffix")
			if at != "" && !strings.Contains(at, "-suffix") {
				t.Errorf("%q (%v) has %q beside it", path, format, at)
			}
		}
	})
}

// FuzzSidecar reads any bytes as the description of a CSV file.
func FuzzSidecar(f *testing.F) {
	f.Add([]byte(`{"@context":"http://www.w3.org/ns/csvw","url":"e.csv","tableSchema":{"columns":[{"titles":"a","datatype":"number"}]},"notes":[{"gladflow.version":"1"}]}`))
	f.Add([]byte(`{"notes":[{},null,{"a":"b"}]}`))
	f.Add([]byte(`{"notes":{}}`))
	f.Add([]byte(strings.Repeat(`[`, 20_000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "e.csv")
		if err := os.WriteFile(path+sidecarSuffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readSidecar(t.Context(), path, nil, nil)
		var input *InputError
		if err != nil && !errors.As(err, &input) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}

// FuzzSquareText reads any text as a matrix of covariances.
func FuzzSquareText(f *testing.F) {
	for _, s := range []string{
		",a,b\na,1,0.5\nb,0.5,2\n", "row,column,value\na,a,1\na,b,0.5\nb,b,2\n", "a,b\n1,0\n0,1\n",
		"row,column,value\na,a,1\na,a,2\n", ",a,b\nb,1,0\na,0,1\n", "a,b\n1,2\n3,4\n", "row,column,value\na,b,1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s.csv")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		names, values, sum, err := ReadSquare(t.Context(), path, SampleOptions{Format: CSV})
		mustBeInput(t, err)
		if err != nil {
			return
		}
		d := len(names)
		if d == 0 || len(values) != d*d || len(sum) != 64 {
			t.Fatalf("%d names, %d values, %q", d, len(values), sum)
		}
		for i := range d {
			for j := range d {
				if v := values[i*d+j]; v != values[j*d+i] || v-v != 0 {
					t.Fatalf("%d,%d is %v and %v", i, j, v, values[j*d+i])
				}
			}
		}
	})
}
