package server

import (
	"context"
	"os"
	"time"
)

// parentInterval is how often a plugin checks whether its host lives.
const parentInterval = 200 * time.Millisecond

// A parentProcess is the host that has started this process as a plugin.
// Standard input says nothing about it: it is the host's own.
type parentProcess struct{ pid int }

// currentParent must be called early: a host that has died before looks like a
// parent that is process 1, which in a container it may be.
func currentParent() parentProcess { return parentProcess{pid: os.Getppid()} }

// diedEarly says whether nobody waits for the handshake: standard output, a pipe
// to the host, has no reader any more. It is called once, at the start, since a
// host may close the pipe after the handshake.
func (p parentProcess) diedEarly() bool { return brokenPipe(1) }

// dead says whether the host has died. Its child then gets another parent. The
// child of a wrapper between the two, such as a shell script, does not; but then
// neither of its outputs has a reader, which no host that lives does.
func (p parentProcess) dead() bool {
	return os.Getppid() != p.pid || brokenPipe(1) && brokenPipe(2)
}

// watch returns a channel that is closed when the host has died. It stops
// checking at the end of ctx. It is called before the handshake is sent: a host
// may close its pipe as soon as it has that.
func (p parentProcess) watch(ctx context.Context) <-chan struct{} {
	died := make(chan struct{})
	if p.diedEarly() {
		close(died)
		return died
	}
	go func() {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for !p.dead() {
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
