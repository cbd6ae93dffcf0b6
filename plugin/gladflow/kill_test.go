package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/plugintest"
)

// A host that is killed, whatever it and its plugin are at, leaves no process,
// no socket and no half-written file 2 s later.
func TestKillHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGKILL")
	}
	const atOnce, limit = 4, 2 * time.Second
	times := 3
	if os.Getenv("GLADFLOW_LONG") != "" {
		times = 50
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED is %q, and must be a number", text)
		}
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	path := built.Binary(t)

	killed := make(chan moment)
	var hosts sync.WaitGroup
	var gone victims
	for range atOnce {
		hosts.Go(func() {
			for at := range killed {
				gone.add(killHost(t, path, at, limit))
			}
		})
	}
	for i := range times {
		var at moment
		longest := time.Second
		switch i % 5 {
		case 0:
			longest = 400 * time.Millisecond
		case 1:
			at.written = true
		default:
			at.launched = true
		}
		at.after = time.Duration(rng.Float64() * float64(longest))
		killed <- at
	}
	close(killed)
	hosts.Wait()
	t.Logf("killed %d hosts, %d of them with a plugin that had started; the last trace went after %v at the latest, %v in the middle; %d files of results, all whole",
		times, gone.launched, slices.Max(gone.took), gone.middle(), gone.files)
	if gone.files == 0 {
		t.Error("no host has come to write anything")
	}
}

// A moment is when a host is killed: so long after its start, after it has
// launched the plugin, or after the first file was written.
type moment struct {
	launched, written bool
	after             time.Duration
}

func (m moment) String() string {
	switch {
	case m.launched:
		return fmt.Sprintf("%v after it had launched the plugin", m.after)
	case m.written:
		return fmt.Sprintf("%v after the first file was written", m.after)
	}
	return fmt.Sprintf("%v after its start", m.after)
}

// A victim is a host that was killed.
type victim struct {
	launched bool // a plugin
	took     time.Duration
	files    int
}

type victims struct {
	mu              sync.Mutex
	launched, files int
	took            []time.Duration
}

func (v *victims) add(one victim) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one.launched {
		v.launched++
	}
	v.files += one.files
	v.took = append(v.took, one.took.Round(time.Millisecond))
}

func (v *victims) middle() time.Duration {
	slices.Sort(v.took)
	return v.took[len(v.took)/2]
}

// A host is a process of the test binary that has launched the plugin, or is
// about to.
type host struct {
	cmd        *exec.Cmd
	folder     string // with all of these
	temp, out  string // for sockets, and for results
	binary     string // a name of its own, by which its processes are found
	said       chan string
	complained bytes.Buffer
}

func startHost(path string, patience time.Duration) (*host, error) {
	// A short name, for the socket's sake.
	folder, err := os.MkdirTemp("", "gk")
	if err != nil {
		return nil, err
	}
	h := &host{
		folder: folder, temp: filepath.Join(folder, "t"), out: filepath.Join(folder, "out"), binary: filepath.Join(folder, "gladflow"),
		said: make(chan string, 1),
	}
	self, err := os.Executable()
	if err := errors.Join(err, os.Mkdir(h.temp, 0o700), os.Mkdir(h.out, 0o700), os.Link(path, h.binary)); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	h.cmd = exec.Command(self)
	h.cmd.Env = append(os.Environ(), hostVariable+"="+h.binary, hostOut+"="+h.out, "TMPDIR="+h.temp)
	h.cmd.Stderr, h.cmd.WaitDelay = &h.complained, patience
	stdout, err := h.cmd.StdoutPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n') // of one that is killed before, less
		h.said <- line
	}()
	return h, nil
}

// killHost starts a host, kills it at a moment, and fails if it leaves anything
// behind. It is not called from the test's goroutine.
func killHost(t *testing.T, path string, at moment, limit time.Duration) (v victim) {
	h, err := startHost(path, limit)
	if err != nil {
		t.Error(err)
		return v
	}
	defer os.RemoveAll(h.folder)
	var line string
	if at.launched || at.written {
		line = <-h.said
	}
	if at.written && !h.writes() {
		t.Errorf("the host has written nothing\n%s", h.complained.String())
	}
	time.Sleep(at.after)
	_ = h.cmd.Process.Kill() // fails only if it has ended
	began := time.Now()
	if !at.launched && !at.written {
		line = <-h.said
	}
	if err := h.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the host to be killed %v has ended by itself, with %v\n%s", at, err, h.complained.String())
		return v
	}
	line, v.launched = strings.CutSuffix(line, "\n")
	left := h.left(line, limit)
	v.took = time.Since(began)
	if len(left) > 0 {
		t.Errorf("host killed %v: %v later there is left\n\t%s\nits last words: %s", at, v.took, strings.Join(left, "\n\t"), h.complained.String())
	}
	files, err := filepath.Glob(filepath.Join(h.out, "*", "*"))
	if err != nil {
		t.Error(err)
	}
	v.files = len(files)
	return v
}

// writes waits until a file of results is there; it reports whether one is.
func (h *host) writes() bool {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		// Temporary files begin with a dot.
		if files, _ := filepath.Glob(filepath.Join(h.out, "*", "[a-z]*")); len(files) > 0 {
			return true
		}
	}
	return false
}

// left is what there is left of the plugin, with this process id if the host
// has come to say it.
func (h *host) left(id string, limit time.Duration) []string {
	began := time.Now()
	left := plugintest.Leftovers(limit, h.temp, h.out)
	// In the last moments of its end a process has no environment any more.
	if pid, err := strconv.Atoi(id); err == nil {
		for proctest.Lives(pid) && time.Since(began) < limit {
			time.Sleep(time.Millisecond)
		}
		if proctest.Lives(pid) {
			left = append(left, "the plugin, process "+id)
		}
	}
	for _, pid := range runningFrom(h.binary) {
		left = append(left, fmt.Sprintf("process %d, which runs %s", pid, h.binary))
	}
	return left
}

// runningFrom are the processes of a binary, where there is /proc.
func runningFrom(path string) []int {
	var pids []int
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		exe, err := os.Readlink(link)
		if err != nil || exe != path {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err == nil && proctest.Lives(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
