//go:build unix

package arrowio

import (
	"errors"

	"golang.org/x/sys/unix"
)

// noWaiting opens a pipe without waiting for who writes to it.
const noWaiting = unix.O_NONBLOCK

// isDevice says whether a socket, or a device that is not there, could not be
// opened.
func isDevice(err error) bool { return errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) }
