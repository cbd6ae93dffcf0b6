package gate

import (
	"net"
	"strconv"
	"syscall"
)

// peerOfSocket is the user at the other end of a Unix socket.
func peerOfSocket(c net.Conn) string {
	const unknown = "unix"
	s, ok := c.(syscall.Conn)
	if !ok {
		return unknown
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return unknown
	}
	var user *syscall.Ucred
	if controlErr := raw.Control(func(fd uintptr) {
		user, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); controlErr != nil || err != nil {
		return unknown
	}
	return "uid " + strconv.FormatUint(uint64(user.Uid), 10)
}
