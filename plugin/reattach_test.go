package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// reattachLine names a socket as gladflow plugin does.
func reattachLine(t *testing.T, path string) string {
	t.Helper()
	line, err := json.Marshal(protocol.Reattach{
		Protocol: "grpc", ProtocolVersion: protocol.Version, Pid: 42, Test: true,
		Addr: protocol.ReattachAddr{Network: "unix", String: path},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func TestReattachRefuses(t *testing.T) {
	folder := shortTemp(t)
	silent, err := net.Listen("unix", filepath.Join(folder, "silent"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	foreign, err := net.Listen("unix", filepath.Join(folder, "foreign"))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(folder, "foreign"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config Config
		want   string
		skip   bool
	}{
		"no JSON":        {config: Config{Reattach: "plugin"}, want: "copy its line"},
		"checksum":       {config: Config{Reattach: reattachLine(t, file), Checksum: strings.Repeat("ab", 32)}, want: "leave Config.Checksum empty"},
		"nothing there":  {config: Config{Reattach: reattachLine(t, folder+"/nothing")}, want: "there is no socket of this user"},
		"a file":         {config: Config{Reattach: reattachLine(t, file)}, want: "there is no socket of this user"},
		"another user's": {config: Config{Reattach: reattachLine(t, folder+"/foreign")}, want: "there is no socket of this user", skip: os.Geteuid() != 0},
		"silent":         {config: Config{Reattach: reattachLine(t, folder+"/silent"), StartTimeout: 100 * time.Millisecond}, want: "process 42 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.skip {
				t.Skip("needs root")
			}
			client, err := Launch(t.Context(), c.config)
			if err == nil {
				client.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, which is to say %q", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errSource)
	if _, err := Launch(ctx, Config{Reattach: reattachLine(t, folder+"/silent")}); !errors.Is(err, errSource) {
		t.Errorf("with a context that has ended: error %v", err)
	}
}
