package protocol

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Version is the version of the protocol, negotiated in the handshake.
const Version = 1

// The cookie: a binary with this variable in its environment serves as a
// plugin, and is the command line otherwise. It is no secret.
const (
	CookieKey   = "GLADFLOW_PLUGIN_COOKIE"
	CookieValue = "5b0f6f1d1c6b4f6cb3f0a0a2c9d7e14881de0b61f5b84d2aa3b7a9d1c4e6f20d"
)

// Name is what the plugin is called among those a binary serves.
const Name = "gladflow"

// Handshake is the configuration that both sides must have in common.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  Version,
		MagicCookieKey:   CookieKey,
		MagicCookieValue: CookieValue,
	}
}

// Flight is the plugin: Arrow Flight on go-plugin's gRPC connection. A host
// is given the connection, to put a Flight client on; a binary registers its
// service.
type Flight struct {
	plugin.NetRPCUnsupportedPlugin
	// Register adds the Flight service to a server; nil in a host.
	Register func(*grpc.Server) error
}

var _ plugin.GRPCPlugin = Flight{}

// GRPCServer implements plugin.GRPCPlugin for a binary.
func (f Flight) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	if f.Register == nil {
		return errors.New("protocol: this side of the plugin serves nothing")
	}
	return f.Register(s)
}

// GRPCClient implements plugin.GRPCPlugin for a host: it returns the
// *grpc.ClientConn.
func (Flight) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}

// Plugins is the plugins of every version that is served; register is nil in
// a host.
func Plugins(register func(*grpc.Server) error) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{Version: {Name: Flight{Register: register}}}
}

// ClientConfig starts cmd as a plugin over gRPC with mutual TLS between it and
// the host. Callers may change what they like before plugin.NewClient.
func ClientConfig(cmd *exec.Cmd) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: Plugins(nil),
		Cmd:              cmd,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
	}
}

// Dispense starts a client's plugin, if it is not running, and returns the
// connection to it, which the client closes when it is killed.
func Dispense(client *plugin.Client) (*grpc.ClientConn, error) {
	rpc, err := client.Client()
	if err != nil {
		return nil, err
	}
	raw, err := rpc.Dispense(Name)
	if err != nil {
		return nil, err
	}
	conn, ok := raw.(*grpc.ClientConn)
	if !ok {
		return nil, fmt.Errorf("protocol: the plugin was dispensed as %T; use the plugins of package protocol", raw)
	}
	return conn, nil
}
