package security

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A reloader has a value that is read from files, and read again when they have
// changed. It keeps the old value while the files cannot be used, such as a
// certificate whose key is still being written.
type reloader[T any] struct {
	files []string
	read  func() (T, error)
	log   hclog.Logger

	mu      sync.Mutex
	value   T
	stamps  []os.FileInfo // nil for a file that is not there
	checked time.Time
}

// sameContent says whether a file is what it was. A file that was put in the place
// of another may have its size, and its time within the resolution of the clock.
func sameContent(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// checkInterval is how often the files are checked, at the most.
const checkInterval = time.Second

// newReloader reads for the first time.
func newReloader[T any](log hclog.Logger, read func() (T, error), files ...string) (*reloader[T], error) {
	// The stamps are older than the content, never newer: a change between the
	// two is seen the next time.
	r := &reloader[T]{files: files, read: read, log: log, stamps: stampsOf(files), checked: time.Now()}
	var err error
	r.value, err = read()
	return r, err
}

func stampsOf(files []string) []os.FileInfo {
	stamps := make([]os.FileInfo, len(files))
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = info
		}
	}
	return stamps
}

// get returns the current value.
func (r *reloader[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.checked) < checkInterval {
		return r.value
	}
	r.checked = now
	stamps := stampsOf(r.files)
	if slices.EqualFunc(stamps, r.stamps, sameContent) {
		return r.value
	}
	r.stamps = stamps
	value, err := r.read()
	if err != nil {
		r.log.Error("files have changed, but what they say now cannot be used; the old stays in force", "files", r.files, "error", err)
		return r.value
	}
	r.log.Info("files have changed and were read again", "files", r.files)
	r.value = value
	return value
}
