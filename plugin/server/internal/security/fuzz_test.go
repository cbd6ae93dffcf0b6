package security

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/metadata"
)

// FuzzTokens lets in who has a line of the file, and nobody else.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("# ours\nalpha\n\n  beta  \r\n"), "alpha")
	f.Add([]byte("\n"), "")
	f.Add([]byte("#alpha\n"), "#alpha")
	f.Add([]byte("a b\n\xff\n"), "a")
	f.Fuzz(func(t *testing.T, file []byte, given string) {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := readTokens(path, hclog.NewNullLogger())
		if err != nil {
			return
		}
		known := false
		for line := range strings.SplitSeq(string(file), "\n") {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && line == strings.TrimSpace(given) {
				known = true
			}
		}
		ctx := metadata.NewIncomingContext(context.Background(), metadata.MD{"authorization": {"Bearer " + given}})
		if _, err := list.check(ctx); (err == nil) != known {
			t.Errorf("%q of %q: %v", given, file, err)
		}
		for _, d := range list.current.get() {
			if d.digest == sha256.Sum256(nil) {
				t.Error("no token is a token")
			}
		}
	})
}
