package server

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// fresh is what files say, read again when they have changed. Files that
// cannot be understood, such as a certificate whose key is still being written,
// leave it as it was.
type fresh[T any] struct {
	files []string
	read  func() (T, error)
	log   hclog.Logger

	mu     sync.Mutex
	value  T
	stamps []stamp
	looked time.Time
}

// stamp tells one content of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// lookAgain is how old a look at the files may be.
const lookAgain = time.Second

// readFresh reads for the first time.
func readFresh[T any](log hclog.Logger, read func() (T, error), files ...string) (*fresh[T], error) {
	// The stamps are older than the content, never newer: a change between the
	// two is seen the next time.
	f := &fresh[T]{files: files, read: read, log: log, stamps: stampsOf(files), looked: time.Now()}
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

// get returns what the files say.
func (f *fresh[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.looked) < lookAgain {
		return f.value
	}
	f.looked = now
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
