package plugin

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gladflow/gladflow/plugin/internal/socket"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// ReattachVariable is the variable of the environment that a host reads for
// Config.Reattach: GLADFLOW_REATTACH.
const ReattachVariable = protocol.ReattachVariable

// reattach connects to a plugin that was started by hand.
//
// go-plugin's own client is left out: it would look for the process once a second
// for as long as that lives, and end the plugin where it closes the connection.
func (c Config) reattach(ctx context.Context) (*Client, error) {
	if c.Checksum != "" {
		return nil, errors.New("plugin: the binary of a plugin that runs already cannot be checked; leave Config.Checksum empty when Config.Reattach is set")
	}
	r, err := protocol.ParseReattach(c.Reattach)
	if err != nil {
		return nil, fmt.Errorf("plugin: Config.Reattach: %w", err)
	}
	path := r.Addr.String
	if !socket.Own(path) {
		return nil, fmt.Errorf("plugin: Config.Reattach: there is no socket of this user at %s; start gladflow plugin as the user of the host, and give the host the line that it prints now", path)
	}
	conn, err := grpc.NewClient("unix:"+path, append(throughput(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return nil, fmt.Errorf("plugin: Config.Reattach: %s cannot be connected to: %w", path, err)
	}
	client := newClient(conn, nil, c.BatchBytes)
	client.attached = r.Pid
	asked, cancel := context.WithTimeout(ctx, c.startTimeout())
	defer cancel()
	if err := client.Ping(asked); err != nil {
		client.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("plugin: attaching to process %d: %w", r.Pid, context.Cause(ctx))
		}
		return nil, fmt.Errorf("plugin: Config.Reattach: process %d does not answer at %s; start gladflow plugin again, let it run on in the debugger, and give the host the line that it prints now: %w", r.Pid, path, err)
	}
	c.logger().Warn("attached to a plugin that was started by hand, without TLS: for debugging only", "pid", r.Pid, "socket", path)
	return client, nil
}
