package server

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// exchange swaps two names in a tight loop until stop is called.
func exchange(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	swap := func() error { return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) }
	if err := swap(); err != nil {
		t.Skip("names cannot be exchanged here: ", err)
	}
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				if n%2 == 0 {
					swap() // back to where they were
				}
				return
			default:
				swap()
			}
		}
	})
	return sync.OnceFunc(func() { close(end); done.Wait() })
}

// While a name leads in and out in turn, jobs read and write what is in the folder,
// or are refused.
func TestFilesRace(t *testing.T) {
	f := newFence(t)
	root := f.rooted(t)
	_, c := served(t, Config{Files: f.folder, Limits: protocol.Limits{ConcurrentRuns: 1}})
	before := f.state(t)
	for field, name := range fenceFiles {
		for way, make := range map[string]func(in, out string) error{
			"a link and a link": func(in, out string) error {
				if err := os.Symlink("sub", in); err != nil {
					return err
				}
				return os.Symlink("../outside", out)
			},
			"a folder and a link": func(in, out string) error {
				if err := os.CopyFS(in, os.DirFS(filepath.Join(f.folder, "sub"))); err != nil {
					return err
				}
				return os.Symlink(f.outside, out)
			},
		} {
			t.Run(field+" by "+way, func(t *testing.T) {
				swapped := filepath.Join(f.folder, "swapped")
				other := swapped + "-other"
				if err := make(swapped, other); err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(swapped)
				defer os.RemoveAll(other)
				defer exchange(t, swapped, other)()
				relative, absolute := f.job(field, "swapped/"+name), f.job(field, swapped+"/"+name)
				for kind, do := range map[string]func(context.Context) (string, error){
					"direct":      func(ctx context.Context) (string, error) { return direct(ctx, root, relative) },
					"over Flight": func(ctx context.Context) (string, error) { return overFlight(ctx, c, absolute) },
				} {
					done, refused := 0, 0
					for began := time.Now(); time.Since(began) < 200*time.Millisecond || (done == 0 || refused == 0) && time.Since(began) < 20*time.Second; {
						said, err := do(t.Context())
						if err == nil {
							done++
						} else {
							refused++
							said += err.Error()
						}
						f.check(t, kind, said)
					}
					if done == 0 || refused == 0 {
						t.Errorf("%s: %d were done, %d refused", kind, done, refused)
					}
					t.Logf("%s: %d were done, %d refused", kind, done, refused)
				}
			})
		}
	}
	if after := f.state(t); after != before {
		t.Errorf("outside was\n%s\nand is\n%s", before, after)
	}
}

// The folder is open as long as the service.
func TestFilesFolderIsClosed(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	before := open()
	s, err := New(Config{Files: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if now := open(); now != before+1 {
		t.Errorf("the service has %d files open", now-before)
	}
	if s.Close(); open() != before {
		t.Errorf("%d files stay open", open()-before)
	}
}

// A pipe in the folder keeps nothing waiting.
func TestFilesPipe(t *testing.T) {
	f := newFence(t)
	if err := unix.Mkfifo(filepath.Join(f.folder, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	_, c := served(t, Config{Files: f.folder})
	threads := func() int {
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := 0
	for n := range 20 {
		for field := range fenceFiles {
			within(t, 10*time.Second, field, func() {
				_, err := overFlight(bg(t), c, f.job(field, "pipe"))
				reason := protocol.ReasonInvalidJob
				if field == "input" {
					reason = protocol.ReasonInvalidTable
				}
				wantFault(t, err, codes.InvalidArgument, reason, field)
			})
		}
		if n == 0 {
			before = threads()
		}
	}
	if after := threads(); after > before+40 {
		t.Errorf("100 jobs that name a pipe made %d threads of %d", after, before)
	}
}
