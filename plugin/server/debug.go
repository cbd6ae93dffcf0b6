package server

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/plugin/internal/socket"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Debug serves as a plugin that no host has started: in a debugger. It calls
// started with what hosts need to attach to it, one after another or at once, until
// ctx ends; that of a host is not its end. It returns as Plugin does.
//
// There is no TLS on the connections. The socket is in a folder that only this user
// can enter; where there are no such sockets Debug returns an error. It sets and
// unsets variables of the environment that go-plugin reads. It is for development
// only.
func Debug(ctx context.Context, c Config, started func(protocol.Reattach)) error {
	// What the host of a process above us may have said to that.
	for _, name := range []string{"PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC", plugin.EnvUnixSocketGroup} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	if err := os.Setenv("PLUGIN_PROTOCOL_VERSIONS", fmt.Sprint(protocol.Version)); err != nil {
		return err
	}
	folder, err := socket.Open(os.TempDir())
	switch {
	case err != nil:
		return err
	case folder == nil:
		return errors.New("hosts cannot attach on this system: it has no sockets that are closed to other users")
	}
	defer folder.Remove()
	if err := os.Setenv(plugin.EnvUnixSocketDir, folder.Path()); err != nil {
		return err
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	p, err := newPluginServer(ctx, c, os.Stderr)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // go-plugin would log that it cannot serve
		close(p.served)
		return p.end(false)
	}
	reattach := make(chan *plugin.ReattachConfig, 1)
	p.test = &plugin.ServeTestConfig{ReattachConfigCh: reattach}
	go p.serve(c.Logger)
	select {
	case r := <-reattach:
		started(protocol.NewReattach(r))
		select {
		case <-p.served: // a host has ended it
		case <-ctx.Done():
		}
	case <-p.served:
	case <-ctx.Done():
	}
	return errors.Join(p.failed(), p.end(false))
}
