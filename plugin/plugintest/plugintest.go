package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// An Option changes what Run does.
type Option func(*kit)

// WithoutMTLS has the binary serve without TLS, as hosts that leave AutoMTLS
// off do. A binary should pass with and without.
func WithoutMTLS() Option { return func(k *kit) { k.mutualTLS = false } }

// WithArgs gives the binary arguments.
func WithArgs(args ...string) Option { return func(k *kit) { k.args = args } }

// WithEnv adds variables ("NAME=value") to the binary's environment.
func WithEnv(env ...string) Option { return func(k *kit) { k.env = env } }

// StopWithin changes the time in which the binary must stop work that was
// cancelled, which is 200 ms, for machines that are slow or busy.
func StopWithin(d time.Duration) Option { return func(k *kit) { k.stopWithin = d } }

// EndWithin changes the time in which the binary must end after its host has
// died, which is 2 s, for machines that are slow or busy.
func EndWithin(d time.Duration) Option { return func(k *kit) { k.endWithin = d } }

// kit is what the cases share; they do not change it.
type kit struct {
	path                  string
	args, env             []string
	mutualTLS             bool
	stopWithin, endWithin time.Duration
}

// A testCase is one case of the kit.
type testCase struct {
	name  string
	check func(*testing.T, *kit)
	// alone says that it measures times, so that nothing may run beside it.
	alone bool
}

// testCases are all cases.
func testCases() []testCase {
	return []testCase{
		{name: "handshake", check: handshake},
		{name: "no cookie, no plugin", check: noCookie},
		{name: "log", check: logLines},
		{name: "health", check: health},
		{name: "interrupt", check: interrupt},
		{name: "cancel", check: cancelRun, alone: true},
		{name: "cancel while samples come in", check: cancelUpload, alone: true},
		{name: "cancelled stream", check: cancelStream, alone: true},
		{name: "deadline", check: deadline, alone: true},
		{name: "looks that are ended", check: looksEnd, alone: true},
		{name: "host killed", check: hostKilled, alone: true},
		{name: "killed while writing", check: killedWriting, alone: true},
		{name: "describe", check: describe},
		{name: "actions", check: listActions},
		{name: "schema", check: schema},
		{name: "validate", check: validate},
		{name: "recover", check: recovers},
		{name: "files", check: files},
		{name: "files that cannot be written", check: failedWriting},
		{name: "flights", check: flights},
		{name: "labels", check: labels},
		{name: "forms of a table", check: forms},
		{name: "look", check: looks},
		{name: "look at a file", check: looksAtFiles},
		{name: "files of a run", check: makesFiles},
		{name: "report", check: reports},
		{name: "exchange", check: exchanges},
		{name: "echo", check: echoes},
		{name: "wide table", check: wide},
		{name: "bad table", check: badTables},
		{name: "truncated stream", check: truncated},
		{name: "corrupt stream", check: corrupt},
		{name: "client that never reads", check: neverReads},
		{name: "20 runs at once", check: concurrent},
		{name: "limits", check: limits},
		{name: "forgotten", check: forgotten},
		{name: "wrong calls", check: wrongCalls},
	}
}

// Run tests the binary at path. Every case is a subtest with processes of its
// own; most run in parallel with each other. Run checks for goroutines that the
// host's side leaves behind and for processes, so no other test should run
// beside it.
func Run(t *testing.T, path string, options ...Option) {
	t.Helper()
	k := &kit{mutualTLS: true, stopWithin: 200 * time.Millisecond, endWithin: 2 * time.Second}
	for _, o := range options {
		o(k)
	}
	found, err := exec.LookPath(path)
	if err == nil {
		k.path, err = filepath.Abs(found)
	}
	if err != nil {
		t.Fatalf("the binary cannot be started: %v", err)
	}
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if !t.Failed() {
			goleak.VerifyNone(t, before)
		}
	})
	for _, c := range testCases() {
		t.Run(c.name, func(t *testing.T) {
			if !c.alone {
				t.Parallel()
			}
			c.check(t, k)
		})
	}
}

// needsSignals skips a case that cannot be had on this system.
func needsSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh and SIGKILL")
	}
}

// temporary is a folder for the sockets of one process: its name is short,
// since that of a socket must be. With the test both end.
func temporary(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "pt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range processIDs(folder) {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // fails only if it has ended
			}
		}
		os.RemoveAll(folder)
	})
	return folder
}
