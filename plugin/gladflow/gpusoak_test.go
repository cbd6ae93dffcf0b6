//go:build cuda && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/cuda/cudatest"
)

// Many small runs of a plugin, several at once, some cancelled and some failing, leave
// nothing on the GPU, and memory as it was. One call of the driver finds no memory, among
// the first runs, of which none is cancelled: it costs the run that it was made for, at
// most those that are at work, and no other.
func TestGPUManyRuns(t *testing.T) {
	const whole, failing = 20, 30 // runs that are not cancelled, and the call that fails
	first, all := 40, 100
	if os.Getenv("GLADFLOW_LONG") != "" {
		first, all = 400, 1000
	}
	s := soakPlugin(t, "EMULATOR_FAIL=cuMemAlloc_v2:"+strconv.Itoa(failing), "EMULATOR_FAIL_CODE=2")
	s.runs(t, 0, whole, false)
	if n := s.failed.Load() + s.fallen.Load(); n < 1 || n > atOnce {
		t.Errorf("%d runs failed or took the CPU for want of memory, after %v", n, cudatest.Report(t, s.report))
	}
	unlucky := s.failed.Load() + s.fallen.Load()
	s.runs(t, whole, first, true)
	rss := s.resident(t)
	s.runs(t, first, all, true)
	rss2 := s.resident(t)
	t.Logf("%v; after %d runs %.1f MiB, after %d %.1f MiB", s, first, rss/(1<<20), all, rss2/(1<<20))
	if first >= 400 && rss2 > 1.1*rss { // the first hundreds still warm caches
		t.Errorf("memory has grown by %.0f %%", 100*(rss2/rss-1))
	}
	if n := s.failed.Load() + s.fallen.Load(); n != unlucky {
		t.Errorf("%d runs failed or took the CPU after those that had no memory", n-unlucky)
	}
	if s.cancelled.Load() == 0 || s.refused.Load() == 0 || int(s.done.Load()) < all/2 {
		t.Error("runs did not end as they should")
	}
	if counts := s.ends(t); counts["failed_on_request"] != 1 {
		t.Errorf("%d calls failed", counts["failed_on_request"])
	}
}

// After the GPU was lost every run that wants it fails, in words and soon, auto takes the
// CPU, and nothing is left.
func TestGPUManyRunsAfterALoss(t *testing.T) {
	s := soakPlugin(t, "EMULATOR_LOST_AFTER=2000")
	s.runs(t, 0, 40, true)
	if t.Log(s); s.failed.Load() == 0 || s.fallen.Load() == 0 || s.done.Load() == 0 {
		t.Error("runs did not end as they should")
	}
	// What a lost GPU held goes with its context.
	s.ends(t, "primary_references", "contexts", "complaints", "bad_frees")
}

// A soak is a plugin on the emulated driver, and how its runs ended.
type soak struct {
	client *plugin.Client
	report string

	done, cancelled, refused, failed, fallen atomic.Int64 // of the runs; fallen are those that the CPU did since the GPU failed
}

func (s *soak) String() string {
	return fmt.Sprintf("%d done, %d of them on the CPU, %d cancelled, %d refused, %d failed",
		s.done.Load(), s.fallen.Load(), s.cancelled.Load(), s.refused.Load(), s.failed.Load())
}

// atOnce is how many runs are at work at the same time.
const atOnce = 4

func soakPlugin(t *testing.T, env ...string) *soak {
	t.Helper()
	s := &soak{report: filepath.Join(t.TempDir(), "report")}
	client, err := plugin.Launch(t.Context(), plugin.Config{
		Path: built.Binary(t), Args: []string{"--result-age=1s", "--max-concurrent-runs=16"},
		Env:    append(env, cudatest.Environment(t), "EMULATOR_REPORT="+s.report),
		Logger: hclog.NewNullLogger(), // it warns of every run that fails
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	s.client = client
	return s
}

// runs does the runs with numbers from first until last, several at a time. Some are
// cancelled, if cancel says so.
func (s *soak) runs(t *testing.T, first, last int, cancel bool) {
	t.Helper()
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range numbers {
				s.run(t, i, cancel)
			}
		})
	}
	for i := first; i < last; i++ {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}

// run does run i, whose number says of what kind it is.
func (s *soak) run(t *testing.T, i int, cancelled bool) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := rand.New(rand.NewPCG(uint64(i), 1))
	j := job.Job{Solvers: [][]string{{"glad"}, {"admm"}, {"glad", "admm"}}[i%3], Penalty: "0.2", Device: []string{"cuda", "cuda:0", "auto"}[i%7%3],
		Edges: job.EdgesAll} // noise may have no other
	d, kind := 2+r.IntN(12), i%10
	cancelled = cancelled && kind == 3
	switch {
	case kind == 5:
		j.Device = "cuda:7" // there is none
	case i%50 == 11: // large enough for the GPU's kernels
		j.Solvers, j.IterationLimit, d = []string{"admm"}, 3, 260
	}
	samples := soakSamples(r, d, kind == 7)
	defer samples.Release()
	run, err := s.client.Recover(ctx, j, samples)
	if err == nil && cancelled {
		time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond)
		if err := run.Cancel(ctx); err != nil {
			t.Errorf("run %d cannot be cancelled: %v", i, err)
		}
	}
	var edges int64
	if err == nil {
		edges, err = s.take(ctx, run, j.Solvers)
	}
	f := protocol.FaultOf(err)
	switch {
	case err != nil && (f == nil || f.Reason == "" || f.Reason == protocol.ReasonPanic):
		t.Errorf("run %d, %+v: %v", i, j, err)
	case kind == 5 && err != nil && f.Reason == protocol.ReasonDevice, kind == 7 && err != nil:
		s.refused.Add(1)
	case kind == 5 || kind == 7:
		t.Errorf("run %d, %+v: it is not refused as it should be: %v", i, j, err)
	case cancelled: // or it was done before that
		s.cancelled.Add(1)
	case err == nil && edges > 0:
		s.done.Add(1)
	case err == nil:
		t.Errorf("run %d, %+v: no edges", i, j)
	case j.Device == "auto" || f.Reason != protocol.ReasonLimit && f.Reason != protocol.ReasonDevice:
		t.Errorf("run %d, %+v: %v", i, j, err)
	default:
		s.failed.Add(1)
	}
}

// take takes the result and the edges of a run, and has it forgotten.
func (s *soak) take(ctx context.Context, run *plugin.Run, solvers []string) (n int64, err error) {
	defer func() { err = errors.Join(err, run.Forget(ctx)) }()
	result, err := run.Result(ctx)
	if err != nil {
		return 0, err
	}
	notes := result.DeviceNote
	for _, r := range result.Solvers {
		notes += r.Note
	}
	if strings.Contains(notes, "the CPU was taken: ") {
		s.fallen.Add(1)
	}
	for _, solver := range solvers {
		edges, err := run.Edges(ctx, solver)
		if err != nil {
			return n, err
		}
		for edges.Next() {
			n += edges.Record().NumRows()
		}
		err = edges.Err()
		edges.Release()
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	return n, nil
}

// soakSamples is a table in which each variable follows the one before; a bad one has
// one that does not vary.
func soakSamples(r *rand.Rand, d int, bad bool) array.RecordReader {
	const n = 40
	var names []string
	for j := range d {
		names = append(names, "g"+strconv.Itoa(j))
	}
	var rows []float64
	for range n {
		x := 0.0
		for j := range d {
			x = 0.9*x + r.NormFloat64()
			if bad && j == 1 {
				x = 1
			}
			rows = append(rows, x)
		}
	}
	table := arrowio.SampleRecord(arrowio.SampleSchema(names), rows, n)
	defer table.Release()
	reader, err := array.NewRecordReader(table.Schema(), []arrow.Record{table})
	if err != nil {
		panic(err)
	}
	return reader
}

// resident is the least memory that the plugin holds within a second, in bytes.
func (s *soak) resident(t *testing.T) (least float64) {
	t.Helper()
	for i := range 10 { // the collector gives back when it pleases
		if now := float64(status(t, s.client.PID(), "VmRSS")); i == 0 || now < least {
			least = now
		}
		time.Sleep(100 * time.Millisecond)
	}
	return least
}

// kept is what a GPU holds at most that is open for the next run: the kernels, once for
// every run at the same time, and what the classical solvers share. Of a run there is
// nothing.
func kept() map[string]int {
	return map[string]int{
		"primary_references": 1, "contexts": 1, "modules": atOnce + 1, "streams": 1, "cublas_handles": 1, "cusolver_handles": 1,
		"allocations": 8, "allocated_bytes": 1 << 20, "pinned": 0, "events": 0, "complaints": 0, "faults": 0, "bad_frees": 0,
	}
}

// ends fails if more is left on the GPU than kept when all runs have ended, or anything
// when the plugin has. What is looked at are those counters of the driver, which are zero
// in both cases, or all. It returns them.
func (s *soak) ends(t *testing.T, counters ...string) map[string]int {
	t.Helper()
	most := kept()
	if len(counters) > 0 {
		clear(most)
		for _, what := range counters {
			most[what] = 0
		}
	}
	var left []string
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		counts := cudatest.Report(t, s.report)
		left = nil
		for what, n := range most {
			if counts[what] > n {
				left = append(left, fmt.Sprintf("%s: %d", what, counts[what]))
			}
		}
		if left == nil {
			break
		}
	}
	if left != nil {
		t.Errorf("all runs have ended, and on the GPU are %v", left)
	}
	pid := s.client.PID()
	if err := s.client.Close(); err != nil {
		t.Error(err)
	}
	proctest.Ends(t, pid, 5*time.Second)
	if len(counters) == 0 {
		return nothingLeft(t, s.report)
	}
	counts := cudatest.Report(t, s.report)
	for _, what := range counters {
		if counts[what] != 0 {
			t.Errorf("%s: %d at the end", what, counts[what])
		}
	}
	return counts
}
