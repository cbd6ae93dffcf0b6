package runs

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// An Upload is a call that streams samples, and the memory that they take on their
// way. It is safe for concurrent use.
type Upload struct {
	share
	mu    sync.Mutex
	ofRun bool // a run reads it, and gives back the memory when it has
	ended bool
	bytes int64
}

// BeginUpload counts a call that streams samples, or refuses it. The transport holds
// a message before anything can count it, hence one of the largest is reserved from
// the beginning. End must be called when the call has ended.
func (g *Registry) BeginUpload(c Caller) (*Upload, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if most := g.Limits.UploadsPerCaller; most > 0 && g.accounts[c].uploads >= most {
		return nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
			"%d calls of this caller stream samples already, which is the most for one caller; try again when one has ended, or raise uploads_per_caller (gladflow serve --max-uploads-per-caller)", most)
	}
	u := &Upload{share: share{g, c}, bytes: LargestMessage(g.Limits)}
	if err := g.takeLocked(c, u.bytes); err != nil {
		var room *memory.Error
		if errors.As(err, &room) {
			room.What = "a message of its samples (as large as --max-message-size allows)"
		}
		return nil, fault.Of(context.Background(), err)
	}
	g.accountLocked(c, func(a *account) { a.uploads++ })
	return u, nil
}

// End is called once, at the end of the call.
func (u *Upload) End() {
	u.g.mu.Lock()
	u.g.accountLocked(u.caller, func(a *account) { a.uploads-- })
	u.g.mu.Unlock()
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.ofRun {
		u.giveBackLocked()
	}
}

// Limits are those of the samples. What their batches unpack to is reserved as they
// come.
func (u *Upload) Limits() batch.Limits {
	l := TableLimits(u.g.Limits)
	l.Reserve = u.reserve
	return l
}

func (u *Upload) reserve(more int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return errEnded
	}
	err := u.Reserve(more)
	if err == nil {
		u.bytes += more
	}
	return err
}

// handOver makes a run the reader of the samples.
func (u *Upload) handOver() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ofRun = true
}

// giveBack gives back the memory of samples that have been read, or never will be. It
// may be called more than once.
func (u *Upload) giveBack() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.giveBackLocked()
}

func (u *Upload) giveBackLocked() {
	u.Release(u.bytes)
	u.ended, u.bytes = true, 0
}
