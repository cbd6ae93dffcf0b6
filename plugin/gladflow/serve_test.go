package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// A service is a process of gladflow serve.
type service struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer // to be read after the end
	conn   *grpc.ClientConn
}

// startService starts gladflow serve at a free port and connects to the address
// that it prints.
func startService(t *testing.T, binary string, args ...string) *service {
	t.Helper()
	s := &service{cmd: exec.Command(binary, append([]string{"serve", "--insecure", "--listen", "127.0.0.1:0"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	line, err := s.stdout.ReadString('\n')
	address, ok := strings.CutPrefix(line, "listening on grpc://127.0.0.1:")
	if err != nil || !ok {
		t.Fatalf("the first line is %q, %v\n%s", line, err, s.stderr.String())
	}
	s.conn, err = grpc.NewClient("127.0.0.1:"+strings.TrimSpace(address), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	return s
}

// do does an action and decodes its last result.
func (s *service) do(t *testing.T, name string, body, result any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	text, err := flighttest.Action(ctx, s.conn, name, body)
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run starts a job that goes on until its time limit.
func (s *service) run(t *testing.T, limit time.Duration) {
	t.Helper()
	var table strings.Builder
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 61 {
		for j := range 120 {
			if i == 0 {
				fmt.Fprintf(&table, "%sv%d", strings.Repeat(",", min(j, 1)), j)
			} else {
				fmt.Fprintf(&table, "%s%.4f", strings.Repeat(",", min(j, 1)), rng.NormFloat64())
			}
		}
		table.WriteByte('\n')
	}
	s.do(t, protocol.ActionRecover, map[string]any{
		"input": file(t, "table.csv", table.String()), "solvers": []string{"am"}, "penalty": 0.01,
		"iteration_limit": 1 << 40, "gap": 1e-300, "time_limit": limit.String(),
	}, &protocol.Run{})
}

// awaitDraining waits until the service says that it ends.
func (s *service) awaitDraining(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	watch, err := grpc_health_v1.NewHealthClient(s.conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	for {
		var now *grpc_health_v1.HealthCheckResponse
		if err == nil {
			now, err = watch.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
		if now.Status == grpc_health_v1.HealthCheckResponse_NOT_SERVING {
			return
		}
	}
}

func (s *service) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end and fails unless the code is right and standard output
// had nothing but the address.
func (s *service) end(t *testing.T, code int, within time.Duration) {
	t.Helper()
	start := time.Now()
	rest, err := io.ReadAll(s.stdout)
	if err != nil || len(rest) > 0 {
		t.Errorf("standard output goes on with %q, %v", rest, err)
	}
	s.cmd.Wait()
	if took := time.Since(start); s.cmd.ProcessState.ExitCode() != code || took > within {
		t.Errorf("%v after %v; want code %d within %v\n%s", s.cmd.ProcessState, took, code, within, s.stderr.String())
	}
}

// gladflow serve as a service manager sees it: its address on standard output,
// its log on standard error, and how it ends.
func TestServe(t *testing.T) {
	binary := built.Binary(t)
	t.Run("idle", func(t *testing.T) {
		s := startService(t, binary, "--max-concurrent-runs", "3", "--threads", "1", "--max-message-size", "8MiB", "--max-result-size", "1.5GB",
			"--max-upload-size", "4096", "--max-variables", "77", "--result-age", "90s", "--idle-timeout", "1m", "--files", "none", "--max-memory", "2GiB")
		var d protocol.Service
		s.do(t, protocol.ActionDescribe, nil, &d)
		want := protocol.Limits{ConcurrentRuns: 3, Threads: 1, MessageBytes: 8 << 20, UploadBytes: 4096, Variables: 77,
			ResultBytes: 1.5e9, MemoryBytes: 2 << 30, ResultSeconds: 90, IdleSeconds: 60}
		if d.Limits != want || d.Files != "none" {
			t.Errorf("it has the limits %+v and files %s, not %+v and none", d.Limits, d.Files, want)
		}
		s.signal(t, syscall.SIGTERM)
		s.end(t, exitDone, 2*time.Second)
		for line := range strings.Lines(s.stderr.String()) {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["@message"] == nil {
				t.Errorf("the log has %q", line)
			}
		}
	})
	t.Run("a run that ends", func(t *testing.T) {
		s := startService(t, binary, "--log-format", "text")
		s.run(t, time.Second)
		s.signal(t, os.Interrupt)
		s.end(t, exitDone, 5*time.Second)
		if !strings.Contains(s.stderr.String(), "ending: new runs are refused") {
			t.Errorf("the log is %s", s.stderr.String())
		}
	})
	t.Run("a run that takes too long", func(t *testing.T) {
		s := startService(t, binary, "--drain-timeout", "200ms")
		s.run(t, time.Minute)
		s.signal(t, syscall.SIGTERM)
		s.end(t, exitInterrupted, 2*time.Second)
	})
	t.Run("a second signal", func(t *testing.T) {
		s := startService(t, binary)
		s.run(t, time.Minute)
		s.signal(t, syscall.SIGTERM)
		s.awaitDraining(t)
		s.signal(t, syscall.SIGTERM)
		s.end(t, exitInterrupted, 2*time.Second)
	})
}

func TestWrongUsageOfServe(t *testing.T) {
	for args, want := range map[string]string{
		"":                                          "--tls-cert: there is no certificate; give one",
		"--insecure --listen 0.0.0.0:0":             "--insecure: 0.0.0.0:0 can be reached from other machines; listen on 127.0.0.1",
		"--insecure --listen 8815":                  "--listen: \"8815\" is no address; write it as",
		"--tls-cert a.pem":                          "--tls-key: there is a certificate without its key",
		"--tls-cert a.pem --tls-key b.pem":          "--tls-cert: there is no file a.pem",
		"--insecure --token-file missing":           "--token-file: there is no file missing",
		"--insecure --files missing":                "--files: the folder for files, missing",
		"--insecure --max-concurrent-runs 0":        "--max-concurrent-runs: 0 leaves nothing; choose 1 at least",
		"--insecure --max-message-size 0":           "--max-message-size: 0 leaves nothing",
		"--insecure --max-message-size 5":           "--max-message-size: 5B is too little for any job; choose 64KiB at least",
		"--insecure --max-message-size 1TB":         "--max-message-size: 1TB is too much; choose 2GiB at most",
		"--insecure --max-upload-size 1kB":          "--max-upload-size: 1kB is too little for any job; choose 4KiB at least",
		"--insecure --max-result-size 1":            "--max-result-size: 1B is too little for any job; choose 64KiB at least",
		"--insecure --max-variables 1":              "--max-variables: 1 is too little for any job; choose 2 at least",
		"--insecure --max-variables 2000000":        "--max-variables: 2000000 is too much; choose 1000000 at most",
		"--insecure --max-concurrent-runs 99999":    "--max-concurrent-runs: 99999 is too much; choose 10000 at most",
		"--insecure --idle-timeout 5ms":             "--idle-timeout: 5ms is too little for any job; choose 100ms at least",
		"--insecure --result-age 9999h":             "--result-age: 9999h0m0s is too much; choose 8760h at most",
		"--insecure --idle-timeout 90":              "--idle-timeout: \"90\" is not a duration; write it as 90s",
		"--insecure --max-variables many":           "--max-variables: \"many\" is not a whole number",
		"--insecure --token-file=":                  "--token-file: the value is empty; give one, or leave the flag out",
		"--insecure --max-message-size big":         "\"big\" is no size; write it as 64MiB",
		"--insecure --result-age -1s":               "--result-age: -1s leaves nothing",
		"--insecure --drain-timeout -1s":            "--drain-timeout: -1s is negative",
		"--insecure --log-level loud":               "--log-level: \"loud\" is unknown; choose one of",
		"--insecure --log-level inf":                "--log-level: \"inf\" is unknown; did you mean info?",
		"--insecure --log-format xml":               "--log-format: \"xml\" is unknown",
		"--insecure --metrics-listen 9090":          "--metrics-listen: \"9090\" is no address",
		"--insecure --metrics-listen :9090":         "--metrics-listen: :9090 can be reached from other machines, so it needs TLS and callers who are known; listen on 127.0.0.1, give a certificate (--tls-cert, --tls-key) with tokens (--token-file) or authorities of clients (--client-ca), or show the metrics to all with --metrics-insecure",
		"--insecure --metrics-insecure":             "--metrics-insecure: there are no metrics; give their address with --metrics-listen",
		"--insecure --max-connections 0":            "--max-connections: 0 leaves nothing",
		"--insecure --max-connections -1":           "--max-connections: -1 leaves nothing",
		"--insecure --max-connections 1000000000":   "--max-connections: 1000000000 are more than the files that this process may open leave room for; choose ",
		"--insecure --max-connections-per-caller 0": "--max-connections-per-caller: 0 leaves nothing",
		"--insecure --max-connections-per-peer 0":   "--max-connections-per-peer: 0 leaves nothing",
		"--insecure --listen 127.0.0.1:99999":       "--listen: \"127.0.0.1:99999\" is no address: the port is \"99999\" and must be a number, 0 to 65535, where 0 takes a free one",
		"--insecure --listen :http":                 "--listen: \":http\" is no address: the port is \"http\" and must be a number",
		"--insecure --listen host:":                 "--listen: \"host:\" is no address: the port is missing; write it as",
		"--insecure --listen 127.0.0.1":             "--listen: \"127.0.0.1\" is no address; write it as",
		"--insecure somewhere":                      "\"somewhere\" is too much; serve takes no arguments",
		"--insecure --listen unix:/nowhere/x/y/s":   "--listen: the folder",
		"--insecure --max-runs-per-caller 0":        "--max-runs-per-caller: 0 leaves nothing; choose more than 0",
		"--insecure --max-uploads-per-caller -1":    "--max-uploads-per-caller: -1 leaves nothing",
		"--insecure --max-result-size-per-caller 0": "--max-result-size-per-caller: 0 leaves nothing",
	} {
		code, stdout, stderr := gladflow(t, append([]string{"serve"}, strings.Fields(args)...)...)
		first, rest, _ := strings.Cut(stderr, "\n")
		if code != exitUsage || stdout != "" || !strings.Contains(first, want) || rest != "see gladflow serve --help\n" {
			t.Errorf("serve %s: code %d, prints %q and\n%s\nwant code 2 and %q", args, code, stdout, stderr, want)
		}
	}
}

// The flags about callers are in the configuration; without them the service chooses.
func TestFlagsOfCallers(t *testing.T) {
	for args, want := range map[string]server.Config{
		"": {},
		"--shared-runs --max-runs-per-caller 3 --max-uploads-per-caller=4 --max-result-size-per-caller 5MiB": {
			SharedRuns: true,
			Limits:     protocol.Limits{RunsPerCaller: 3, UploadsPerCaller: 4, ResultBytesPerCaller: 5 << 20},
		},
	} {
		var o callerOptions
		var got server.Config
		f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		o.bind(f)
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if err := o.apply(&got); err != nil || got.SharedRuns != want.SharedRuns || got.Limits != want.Limits {
			t.Errorf("%q: %+v, %v", args, got, err)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "64MiB": 64 << 20, "64 mib": 64 << 20, "1.5GB": 1_500_000_000, "2TiB": 2 << 40, "12B": 12, "3kB": 3000,
	} {
		var b byteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q is %d, %v; want %d", text, b, err, want)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%q is printed as %q, which is %d, %v", text, b.String(), again, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "-1MiB", "NaN", "Inf", "1e30", "64 M", "0x10p"} {
		var b byteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q is %d", text, b)
		}
	}
	if s := byteSize(64 << 20); s.String() != "64MiB" {
		t.Errorf("64 MiB is printed as %q", s.String())
	}
}

// Errors name the flag of every setting.
func TestSettingsHaveFlags(t *testing.T) {
	flags := serveCommand().Flags()
	for _, typ := range []reflect.Type{reflect.TypeFor[server.ListenConfig](), reflect.TypeFor[server.Config]()} {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if kind := f.Type.Kind(); kind != reflect.String && kind != reflect.Bool {
				continue
			}
			name, ok := strings.CutPrefix(serveFlag(f.Name), "--")
			if !ok || flags.Lookup(name) == nil {
				t.Errorf("the setting %s has the flag %q", f.Name, name)
			}
		}
	}
}
