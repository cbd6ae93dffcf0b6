package security

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A file that is put in the place of another is read, also if it has the same size
// and the same time: clocks of file systems are coarse.
func TestReloadSameSizeAndTime(t *testing.T) {
	folder := t.TempDir()
	at := time.Now().Add(-time.Hour)
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("token", "one")
	r, err := newReloader(hclog.NewNullLogger(), func() (string, error) {
		data, err := os.ReadFile(file)
		return string(data), err
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(write("next", "two"), file); err != nil {
		t.Fatal(err)
	}
	r.checked = time.Time{}
	if got := r.get(); got != "two" {
		t.Errorf("it is %q after the change", got)
	}
}
