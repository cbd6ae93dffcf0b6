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
	stamps  []stamp
	checked time.Time
}

// stamp tells one content of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// checkInterval is how often the files are checked at, at the most.
const checkInterval = time.Second

// newReloader reads for the first time.
func newReloader[T any](log hclog.Logger, read func() (T, error), files ...string) (*reloader[T], error) {
	// The stamps are older than the content, never newer: a change between the
	// two is seen the next time.
	f := &reloader[T]{files: files, read: read, log: log, stamps: stampsOf(files), checked: time.Now()}
	var err error
	f.value, err = read()
	return f, err
}

func stampsOf(files []string) []stamp {
	stamps := make([]stamp, len(files))
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return stamps
}

// get returns the current value.
func (f *reloader[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.checked) < checkInterval {
		return f.value
	}
	f.checked = now
	stamps := stampsOf(f.files)
	if slices.Equal(stamps, f.stamps) {
		return f.value
	}
	f.stamps = stamps
	value, err := f.read()
	if err != nil {
		f.log.Error("files have changed, but what they say now cannot be used; the old stays in force", "files", f.files, "error", err)
		return f.value
	}
	f.log.Info("files have changed and were read again", "files", f.files)
	f.value = value
	return value
}
