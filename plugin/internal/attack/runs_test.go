package attack

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Thousands of short runs leave memory, goroutines and open files as they were.
func TestManyRuns(t *testing.T) {
	onLinux(t)
	s := serve(t, "--result-age", "1s")
	work := func(runs int) {
		for i := range runs {
			switch i % 10 {
			case 3: // one that is held, and taken
				run, err := s.client.Recover(soon(t), job.Job{Solvers: []string{"bcd", "glad"}, Penalty: "0.3"}, goodSamples())
				if err != nil {
					t.Fatal(err)
				}
				edges, err := run.Edges(soon(t), "glad")
				if err != nil {
					t.Fatal(err)
				}
				for edges.Next() {
				}
				if err := edges.Err(); err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				edges.Release()
			case 7: // one that fails
				if _, err := s.action(t, protocol.ActionRecover, map[string]any{"input": "there is none.csv"}); err != nil {
					t.Fatal(err)
				}
			default:
				if _, err := exchange(soon(t), s.client); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// figures are memory in bytes, goroutines and open files, when results have gone.
	figures := func() (rss, goroutines, files float64) {
		eventually(t, 10*time.Second, "results are held", func() bool { return s.figure(t, "gladflow_results_bytes") == 0 })
		for i := range 10 { // the collector gives back when it pleases
			now := float64(resident(s.cmd.Process.Pid))
			if rss == 0 || i > 0 && now < rss {
				rss = now
			}
			time.Sleep(100 * time.Millisecond)
		}
		return rss, s.figure(t, "go_goroutines"), float64(descriptors(s.cmd.Process.Pid))
	}
	first, all := times(100, 1000), times(300, 4000)
	work(first)
	rss, goroutines, files := figures()
	work(all - first)
	rss2, goroutines2, files2 := figures()
	t.Logf("after %d runs %.1f MiB, %v goroutines, %v files; after %d %.1f MiB, %v, %v", first, rss/(1<<20), goroutines, files, all, rss2/(1<<20), goroutines2, files2)
	if whole() && rss2 > 1.1*rss { // the first hundreds still warm caches
		t.Errorf("memory has grown by %.0f %%", 100*(rss2/rss-1))
	}
	if goroutines2 > goroutines+5 || files2 > files+5 {
		t.Error("goroutines or files are left")
	}
}
