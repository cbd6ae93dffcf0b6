package protocol

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"

	"github.com/hashicorp/go-plugin"
)

// ReattachVariable is the variable of the environment in which developers hand a
// Reattach to a host, as JSON. Nothing reads it by itself: a host that is to be
// debugged does.
const ReattachVariable = "GLADFLOW_REATTACH"

// A Reattach says where a plugin is that was started by hand, in a debugger, with
// gladflow plugin, which prints it as JSON. It has the form of Terraform's
// TF_REATTACH_PROVIDERS. There is no TLS on such a connection.
type Reattach struct {
	Protocol        string // grpc
	ProtocolVersion int
	Pid             int
	Test            bool // true: the plugin does not end with its hosts
	Addr            ReattachAddr
}

// A ReattachAddr is the address of a plugin.
type ReattachAddr struct {
	Network string // unix
	String  string // the path of the socket
}

// NewReattach is go-plugin's configuration in our form.
func NewReattach(c *plugin.ReattachConfig) Reattach {
	return Reattach{
		Protocol: string(c.Protocol), ProtocolVersion: c.ProtocolVersion, Pid: c.Pid, Test: c.Test,
		Addr: ReattachAddr{Network: c.Addr.Network(), String: c.Addr.String()},
	}
}

// ParseReattach reads the JSON that gladflow plugin has printed. Errors say in what
// it is not that.
func ParseReattach(text string) (Reattach, error) {
	var r Reattach
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("protocol: it is not the JSON that gladflow plugin prints; copy its line from the first brace to the last: %w", err)
	}
	switch {
	case r.Protocol != string(plugin.ProtocolGRPC) || r.Addr.Network != "unix" || !filepath.IsAbs(r.Addr.String) || !r.Test:
		return r, fmt.Errorf("protocol: it names no plugin that waits for hosts on a Unix socket; copy the line that gladflow plugin prints")
	case r.ProtocolVersion != Version:
		return r, fmt.Errorf("protocol: the plugin speaks version %d of the protocol and this host version %d; update the older of the two", r.ProtocolVersion, Version)
	}
	return r, nil
}

// ClientConfig is for hosts on go-plugin's own client: it is package protocol's
// ClientConfig for this plugin, without TLS. Kill leaves the plugin alone, and the
// connection open.
func (r Reattach) ClientConfig() *plugin.ClientConfig {
	c := ClientConfig(nil)
	c.AutoMTLS = false
	c.Plugins = c.VersionedPlugins[Version] // go-plugin negotiates none here
	c.Reattach = &plugin.ReattachConfig{
		Protocol: plugin.Protocol(r.Protocol), ProtocolVersion: r.ProtocolVersion, Pid: r.Pid, Test: r.Test,
		Addr: &net.UnixAddr{Name: r.Addr.String, Net: r.Addr.Network},
	}
	return c
}
