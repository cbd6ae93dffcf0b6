package security

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// A file of tokens that others can read is worth a warning.
func TestTokenFileForAllToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	logger := hclog.New(&hclog.LoggerOptions{Output: &log})
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true} {
		log.Reset()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := readTokens(path, logger); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "chmod 600"); got != warned {
			t.Errorf("%o: the log is %q", mode, log.String())
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, name := range []string{"127.0.0.1", "127.1.2.3", "[::1]", "localhost"} {
		address, err := Loopback(t.Context(), name+":8815")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil || !net.ParseIP(host).IsLoopback() || port != "8815" {
			t.Errorf("%s: %s, %v", name, address, err)
		}
	}
}
