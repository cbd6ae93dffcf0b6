//go:build unix

package server

import "golang.org/x/sys/unix"

// brokenPipe says that a file descriptor is the writing end of a pipe that
// nobody reads.
func brokenPipe(fd int) bool {
	look := []unix.PollFd{{Fd: int32(fd)}} // errors are told without being asked for
	for {
		n, err := unix.Poll(look, 0)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n == 1 && look[0].Revents&unix.POLLERR != 0
	}
}
