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
	"github.com/gladflow/gladflow/plugin/plugintest"
)

// A host that is killed, whatever it and its plugin are at, leaves no process,
// no socket and no half-written file 2 s later.
func TestKillHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGKILL")
	}
	const atOnce, limit = 4, 2 * time.Second
	times := 50
	if testing.Short() {
		times = 5
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
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
		at := moment{working: true, after: time.Duration(rng.Float64() * float64(time.Second))}
		if i%5 == 0 {
			at = moment{after: time.Duration(rng.Float64() * float64(400*time.Millisecond))}
		}
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

// A moment is when a host is killed: so long after its start, or after its
// plugin was launched.
type moment struct {
	working bool
	after   time.Duration
}

func (m moment) String() string {
	if m.working {
		return fmt.Sprintf("%v after it had launched the plugin", m.after)
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
	if at.working {
		line = <-h.said
	}
	time.Sleep(at.after)
	_ = h.cmd.Process.Kill() // fails only if it has ended
	began := time.Now()
	if !at.working {
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

// left is what there is left of the plugin, with this process id if the host
// has come to say it.
func (h *host) left(id string, limit time.Duration) []string {
	began := time.Now()
	left := plugintest.Leftovers(limit, h.temp, h.out)
	// In the last moments of its end a process has no environment any more.
	if pid, err := strconv.Atoi(id); err == nil {
		for runs(pid) && time.Since(began) < limit {
			time.Sleep(time.Millisecond)
		}
		if runs(pid) {
			left = append(left, "the plugin, process "+id)
		}
	}
	for _, pid := range runningFrom(h.binary) {
		left = append(left, fmt.Sprintf("process %d, which runs %s", pid, h.binary))
	}
	return left
}

// runs says whether a process is there and no zombie, where there is /proc.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The name, in brackets, may hold anything; the state follows.
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " ")
	return !strings.HasPrefix(rest, "Z")
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
		if err == nil && runs(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
