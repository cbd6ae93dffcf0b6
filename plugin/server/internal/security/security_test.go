package security

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
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

func TestParseAddress(t *testing.T) {
	for text, local := range map[string]bool{
		"127.0.0.1:8815": true, "127.1.2.3:0": true, "[::1]:8815": true, "localhost:65535": true,
		":8815": false, "0.0.0.0:8815": false, "[::]:8815": false, "192.0.2.1:8815": false,
	} {
		a, err := ParseAddress(t.Context(), setting.Address, text)
		if err != nil || a.Local != local {
			t.Errorf("%s: %+v, %v", text, a, err)
			continue
		}
		host, port, err := net.SplitHostPort(a.Bind)
		if err != nil || host != "" && net.ParseIP(host) == nil || !strings.HasSuffix(text, ":"+port) {
			t.Errorf("%s is bound as %s, %v", text, a.Bind, err)
		}
	}
	if a, err := ParseAddress(t.Context(), setting.Address, "localhost:1"); err != nil || a.Bind != "127.0.0.1:1" && a.Bind != "[::1]:1" {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"": "no address", "8815": "no address", "127.0.0.1": "no address", "::1:8815": "no address",
		"127.0.0.1:": "the port is missing", "127.0.0.1:99999": "0 to 65535", "127.0.0.1:-1": "0 to 65535", ":http": "0 to 65535",
		"127.0.0.1:+80": "0 to 65535", "127.0.0.1:0x50": "0 to 65535", "127.0.0.1: 80": "0 to 65535",
		"no.such.host.invalid:80": "there is no host",
	} {
		_, err := ParseAddress(t.Context(), setting.MetricsAddress, text)
		var wrong *setting.Error
		if !errors.As(err, &wrong) || wrong.Setting != string(setting.MetricsAddress) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
