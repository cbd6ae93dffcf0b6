package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A process of the test binary with this hears the first signal and goes on.
const deafVariable = "GLADFLOW_TEST_DEAF"

func beDeaf() int {
	ctx := untilSignal()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("told")
	for n := 0; ; n++ { // as a reader that looks at no context
	}
}

// A second signal ends the process at once, whatever goes on in it.
func TestSecondSignal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), deafVariable+"=1")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		for _, want := range []string{"ready\n", "told\n"} {
			if line, err := lines.ReadString('\n'); line != want {
				t.Fatalf("it says %q, %v", line, err)
			}
			time.Sleep(50 * time.Millisecond) // until the signal is its default again
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != sig {
				t.Errorf("%v: it ends with %v", sig, err)
			}
		case <-time.After(2 * time.Second):
			t.Errorf("%v: it goes on after the second", sig)
		}
	}
}

// The first signal ends a reader, though nothing comes or very much.
func TestSignalWhileReading(t *testing.T) {
	binary := built.Binary(t)
	var quotes bytes.Buffer
	z := gzip.NewWriter(&quotes)
	io.WriteString(z, "a,b\n1,\""+strings.Repeat("\n", 2<<20))
	z.Close()
	t.Run("quotes end by themselves", func(t *testing.T) {
		began := time.Now()
		code, _, stderr := gladflow(t, "recover", file(t, "quotes.csv.gz", quotes.String()))
		if took := time.Since(began); code != exitUsage || took > 5*time.Second || !strings.Contains(stderr, "quotes") {
			t.Errorf("code %d after %v: %s", code, took, stderr)
		}
	})
	for name, args := range map[string][]string{
		"standard input": {"recover", "-", "--input-format", "csv"},
		"copied":         {"recover", "-", "--input-format", "parquet"},
		"a pipe":         {"recover", fifo(t)},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(binary, append(args, "--out", t.TempDir())...)
			in, err := cmd.StdinPipe() // in which nothing comes
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			time.Sleep(500 * time.Millisecond)
			began := time.Now()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { cmd.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				t.Fatal("it goes on")
			}
			if took := time.Since(began); cmd.ProcessState.ExitCode() != exitInterrupted || took > time.Second {
				t.Errorf("%v after %v", cmd.ProcessState, took)
			}
		})
	}
	t.Run("serve", func(t *testing.T) {
		s := startService(t, binary, "--drain-timeout", "200ms")
		s.do(t, protocol.ActionRecover, map[string]any{"input": fifo(t)}, &protocol.Run{})
		s.signal(t, syscall.SIGTERM)
		s.end(t, exitInterrupted, 2*time.Second)
	})
}

// fifo is a named pipe that nobody writes to.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
