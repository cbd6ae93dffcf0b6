package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/gladflow/gladflow/plugin/internal/socket"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// bindSocket listens on a Unix socket, whose file the listener removes when it
// is closed. One that a process which died has left behind is replaced; one
// that answers is not.
func bindSocket(ctx context.Context, path string) (net.Listener, error) {
	switch {
	case path == "":
		return nil, setting.Errorf(setting.Address, "the socket has no path; write it as unix:/path")
	case len(path) > socket.MaxPath:
		return nil, setting.Errorf(setting.Address, "the path of the socket has %d characters and may have %d; choose a shorter one", len(path), socket.MaxPath)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		folder := filepath.Dir(path)
		if _, err := os.Stat(folder); err != nil {
			return nil, setting.Errorf(setting.Address, "the folder of the socket, %s, is not there; make it, or choose another path", folder)
		}
	case err != nil:
		return nil, setting.Errorf(setting.Address, "%s cannot be used: %s", path, errors.Unwrap(err))
	case info.Mode().Type() != fs.ModeSocket:
		return nil, setting.Errorf(setting.Address, "%s is there and no socket; choose another path", path)
	case socket.Answers(ctx, path):
		return nil, setting.Errorf(setting.Address, "another process listens on %s; end it or choose another path", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, setting.Errorf(setting.Address, "%s was left by another process and cannot be removed: %s", path, errors.Unwrap(err))
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
