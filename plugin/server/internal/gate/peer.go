package gate

import (
	"net"
	"net/netip"
)

// peerOf is the name of who is at the other end, for as far as one can tell them
// apart: whoever has an address of IPv6 has all of a network of 64 bits.
func peerOf(c net.Conn) string {
	at, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return peerOfSocket(c)
	}
	ip, ok := netip.AddrFromSlice(at.IP)
	if !ok {
		return "unknown"
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}
