package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/gladflow/gladflow/plugin/server/internal/security"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// bindTCP listens on an address, the value of a setting. An address that is taken
// is no wrong setting: it may be free in a moment.
func bindTCP(ctx context.Context, f setting.Field, at security.Address) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.Bind)
	var errno syscall.Errno
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &takenError{at.Text, err}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, setting.Errorf(f, "%s is no address of this machine; choose one that is, or 0.0.0.0 for all", at.Text)
	case errors.Is(err, syscall.EACCES):
		return nil, setting.Errorf(f, "%s may not be listened on by this user; choose a port from 1024", at.Text)
	case errors.As(err, &errno):
		return nil, fmt.Errorf("%s cannot be listened on: %s", at.Text, errno.Error())
	}
	return nil, fmt.Errorf("%s cannot be listened on: %w", at.Text, err)
}

// A takenError is of an address on which somebody listens.
type takenError struct {
	address string
	err     error
}

// Error implements error.
func (e *takenError) Error() string {
	return e.address + " is in use by another process; choose another port, or 0 for a free one"
}

// Unwrap is the error of the system.
func (e *takenError) Unwrap() error { return e.err }
