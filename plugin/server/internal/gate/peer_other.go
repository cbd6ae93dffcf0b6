//go:build !linux

package gate

import "net"

// peerOfSocket is one for all who connect to a Unix socket.
func peerOfSocket(net.Conn) string { return "unix" }
