package output_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

func TestFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "new", "page.html")
	f, err := output.OpenFileIn(nil, "report", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is written")
	}
	for _, text := range []string{"one", "another"} {
		written, err := f.Write(func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		data, _ := os.ReadFile(path)
		if err != nil || written.Name != "page.html" || written.Bytes != int64(len(text)) || string(data) != text {
			t.Errorf("%+v, %v, %q", written, err, data)
		}
	}
	if _, err := f.Write(func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return io.ErrShortWrite }); err == nil {
		t.Error("a failure is no error")
	}
	if data, _ := os.ReadFile(path); string(data) != "another" {
		t.Errorf("a failure leaves %q", data)
	}
	f.Discard()
	f.Close()
	if _, err := os.Stat(path); err != nil {
		t.Error("a folder with a file is removed")
	}
	if err := os.Symlink(path, filepath.Join(folder, "link.html")); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{filepath.Join(folder, "new"), filepath.Join(folder, "link.html"), filepath.Join(path, "page.html")} {
		_, err := output.OpenFileIn(nil, "report", path)
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBeside(t *testing.T) {
	for _, c := range []struct{ folder, path, want string }{
		{"out", "out/r.html", "r.html"}, {"./out/", "out/sub/r.html", "sub/r.html"}, {"out", "r.html", "r.html"}, {"out", "../r.html", "../r.html"},
		{"out", "/tmp/r.html", "/tmp/r.html"}, {"/tmp", "/tmp/r.html", "r.html"}, {"", "a/r.html", "a/r.html"},
	} {
		if got := output.Beside(c.folder, c.path); got != c.want {
			t.Errorf("%s beside %s is %s, want %s", c.path, c.folder, got, c.want)
		}
	}
}
