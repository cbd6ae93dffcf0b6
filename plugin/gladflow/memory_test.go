package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// independent writes a table of samples of d variables.
func independent(t *testing.T, d, samples int) string {
	t.Helper()
	var b strings.Builder
	for j := range d {
		fmt.Fprintf(&b, "v%d,", j)
	}
	text := strings.TrimSuffix(b.String(), ",")
	state := uint64(1)
	for range samples {
		b.Reset()
		for range d {
			state = state*6364136223846793005 + 1442695040888963407
			fmt.Fprintf(&b, "%d,", state>>52)
		}
		text += "\n" + strings.TrimSuffix(b.String(), ",")
	}
	return file(t, "samples.csv", text+"\n")
}

// status is a figure of a process in bytes, such as VmHWM.
func status(t *testing.T, pid int, key string) int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == key+":" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("no %s", key)
	return 0
}

// Thirty-two runs at once, each of a third of a gigabyte: as many are taken as the limit
// has room for, the others are refused, and the process stays below its limit.
func TestMemoryOfAService(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const limit, d, admitted = 1300 << 20, 1500, 3
	table := independent(t, d, 60)
	s := startService(t, built.Binary(t), "--max-memory", strconv.Itoa(limit))
	job := map[string]any{"input": table, "solvers": []string{"am"}, "penalty": 0.1, "gap": 1e-300, "iteration_limit": 1 << 40} // which does not end
	var working, refused atomic.Int64
	var runs sync.Map
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			text, err := flighttest.Action(t.Context(), s.conn, protocol.ActionRecover, job)
			var run protocol.Run
			if err == nil {
				err = json.Unmarshal(text, &run)
			}
			if err != nil {
				t.Error(err)
				return
			}
			e, err := s.admission(t.Context(), run)
			switch {
			case err != nil:
				t.Error(err)
			case e.State == protocol.StateRunning:
				working.Add(1)
				runs.Store(run, true)
			case e.Error.StatusCode() == codes.ResourceExhausted && e.Error.Reason == protocol.ReasonLimit:
				refused.Add(1)
			default:
				t.Errorf("%+v", e)
			}
		})
	}
	group.Wait()
	if working.Load() != admitted || refused.Load() != 32-admitted {
		t.Errorf("%d runs are at work and %d are refused", working.Load(), refused.Load())
	}
	// Until they have done iterations: the process does not grow any more.
	peak, began := int64(0), time.Now()
	for grown := began; (peak < limit/2 || time.Since(grown) < 3*time.Second) && time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		if now := status(t, s.cmd.Process.Pid, "VmHWM"); now > peak {
			peak, grown = now, time.Now()
		}
	}
	if peak > limit || peak < limit/2 {
		t.Errorf("the process took %d MiB of its limit of %d MiB", peak>>20, int64(limit)>>20)
	} else {
		t.Logf("%d of 32 runs of %d variables were admitted; the process took %d MiB of its limit of %d MiB", working.Load(), d, peak>>20, int64(limit)>>20)
	}
	runs.Range(func(run, _ any) bool {
		s.do(t, protocol.ActionCancel, run, new(protocol.Run))
		return true
	})
	// Their kernels may be at work for a while.
	for start := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		var run protocol.Run
		s.do(t, protocol.ActionRecover, job, &run)
		e, err := s.admission(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if e.State == protocol.StateRunning {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("after the cancellation there is no room for a run: %v", e.Error)
		}
	}
}

// admission is the event of a run that says that it has read its table, or has ended.
func (s *service) admission(ctx context.Context, run protocol.Run) (e protocol.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body, err := json.Marshal(run)
	if err != nil {
		return e, err
	}
	stream, err := flight.NewClientFromConn(s.conn, nil).DoAction(ctx, &flight.Action{Type: protocol.ActionWatch, Body: body})
	for err == nil && e.State != protocol.StateRunning && !e.State.Ended() {
		var r *flight.Result
		if r, err = stream.Recv(); err == nil {
			e = protocol.Event{}
			err = json.Unmarshal(r.Body, &e)
		}
	}
	return e, err
}

func TestMemoryFlag(t *testing.T) {
	table := file(t, "genes.csv", expression())
	for _, c := range []struct {
		args  []string
		words []string
	}{
		{[]string{"recover", table, "--max-memory", "100MiB"}, []string{"--max-memory: 100MiB leaves nothing for runs", "160 MiB"}},
		{[]string{"recover", table, "--id-column", "id", "--max-memory", "170MiB"}, []string{"the run needs", "can never be taken", "raise --max-memory"}},
		{[]string{"recover", table, "--id-column", "id", "--memory", "170MiB"}, []string{"the run needs", "raise --max-memory"}},
		{[]string{"recover", table, "--max-memory", "much"}, []string{`"much" is no size`}},
		{[]string{"serve", "--insecure", "--max-memory", "1MiB"}, []string{"--max-memory: 1MiB leaves nothing for runs"}},
		{[]string{"run", file(t, "job.yaml", "input: "+table+"\nid_column: id\n"), "--max-memory", "170MiB"}, []string{"the run needs", "raise --max-memory"}},
	} {
		code, stdout, stderr := gladflow(t, c.args...)
		if code != exitUsage || stdout != "" {
			t.Errorf("%v: exit code %d, %q", c.args, code, stdout)
		}
		for _, words := range c.words {
			if !strings.Contains(stderr, words) {
				t.Errorf("%v: %q lacks %q", c.args, stderr, words)
			}
		}
	}
	if code, _, stderr := gladflow(t, "recover", table, "--id-column", "id", "--max-memory", "1GB"); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	o, err := pluginSettings([]string{"--max-memory=1GiB"})
	if err != nil || o.Limits.MemoryBytes != 1<<30 {
		t.Errorf("%+v, %v", o.Limits, err)
	}
	if o, err := pluginSettings(nil); err != nil || o.Limits.MemoryBytes != server.DefaultLimits().MemoryBytes || o.Limits.MemoryBytes != memory.Default() {
		t.Errorf("%+v, %v", o.Limits, err)
	}
}
