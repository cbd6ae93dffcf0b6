package server

import (
	"context"
	"os"
	"time"
)

// lookEvery is how often a plugin looks whether its host lives.
const lookEvery = 200 * time.Millisecond

// A host is the process that has started this one, as a plugin sees it. Its
// standard input says nothing: it is the host's own.
type host struct {
	parent int
}

// startedBy must be called early: a host that dies before it cannot be told
// from a parent that is process 1 by right, as in a container.
func startedBy() host { return host{parent: os.Getppid()} }

// diedEarly says that nobody waits for the handshake: standard output, a pipe
// to the host, has no reader any more. It is asked once, at the start, since a
// host may well close the pipe after the handshake.
func (h host) diedEarly() bool { return brokenPipe(1) }

// dead says that the host is no more. Its child is handed to another parent.
// The child of a wrapper between the two, such as a shell script, is not; but
// then both of its outputs lead nowhere, which no host that lives would do.
func (h host) dead() bool {
	return os.Getppid() != h.parent || brokenPipe(1) && brokenPipe(2)
}

// watch returns a channel that is closed when the host has died. It stops
// looking at the end of ctx.
func (h host) watch(ctx context.Context) <-chan struct{} {
	died := make(chan struct{})
	go func() {
		if h.diedEarly() {
			close(died)
			return
		}
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for !h.dead() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		close(died)
	}()
	return died
}
