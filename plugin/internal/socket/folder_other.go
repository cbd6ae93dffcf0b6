//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package socket

// Open returns nil: there are no Unix sockets here, or no locks on folders.
func Open(string) (*Folder, error) { return nil, nil }

// Remove does nothing here.
func (*Folder) Remove() {}

// Sweep does nothing here.
func Sweep(string) {}

// RemoveDead does nothing here.
func RemoveDead(string) {}

// Own is never true here.
func Own(string) bool { return false }
