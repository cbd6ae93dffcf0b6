package plugintest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// writing is a job of a second or less that writes some megabytes to a folder.
func writing(folder string) fields {
	return fields{"solvers": []string{"bcd", "glad"}, "penalty": 0.3, "edges": "all", "precision": "dense", "format": "csv", "out": folder}
}

// hostKilled kills the host, a shell, at moments of a run that writes files:
// soon nothing is left of the plugin, and the files that are there are whole.
func hostKilled(t *testing.T, k *kit) {
	needsSignals(t)
	table := chain(25, 250, 60).lists()
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond} {
		b := k.bare(t, true)
		out := k.outFolder(t, b)
		j := writing(out)
		if out == "" {
			delete(j, "out")
		}
		_, err := b.put(soon(t), j.command(), table)
		fatal(t, "DoPut", err)
		time.Sleep(after)
		began := time.Now()
		b.die(t)
		nothingLeft(t, k, "the death of the host", b.temp, out)
		t.Logf("killed %v into the run, gone after %v, files: %q", after, time.Since(began).Round(time.Millisecond), names(out))
	}
	// At rest, and with the samples still coming.
	b := k.bare(t, true)
	b.die(t)
	nothingLeft(t, k, "the death of the host of a plugin at rest", b.temp, "")
	b = k.bare(t, true)
	b.begin(t, quick(), batches(table, 20)[:1])
	b.die(t)
	nothingLeft(t, k, "the death of the host during a DoPut", b.temp, "")
}

// outFolder is a folder for results, or "" if the service writes none.
func (k *kit) outFolder(t *testing.T, b *bare) string {
	t.Helper()
	d, err := answer[plugin.Description](soon(t), &b.service, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Files != "any" {
		return ""
	}
	return filepath.Join(t.TempDir(), "out")
}

// names are those of the files in a folder.
func names(folder string) []string {
	var list []string
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// killedWriting kills the plugin as hosts do, by go-plugin's Kill, at random
// moments of runs that replace the same files over and over.
func killedWriting(t *testing.T, k *kit) {
	s := k.start(t)
	d, err := answer[plugin.Description](soon(t), s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Files != "any" {
		t.Skipf("the service writes no files where its callers say (files: %q)", d.Files)
	}
	table := chain(26, 250, 60).lists()
	out := filepath.Join(t.TempDir(), "out")
	began := time.Now()
	run, err := s.put(soon(t), writing(out).command(), table)
	fatal(t, "DoPut", err)
	_, err = s.act(soon(t), protocol.ActionResult, run)
	fatal(t, "the action result", err)
	whole := time.Since(began)
	before := names(out)

	seed := uint64(time.Now().UnixNano())
	t.Logf("a run takes %v and writes %q; seed %d", whole.Round(time.Millisecond), before, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 5 {
		s := k.start(t)
		_, err := s.put(soon(t), writing(out).command(), table)
		fatal(t, "DoPut", err)
		time.Sleep(time.Duration(rng.Float64() * float64(whole)))
		within(t, k.endWithin, "Kill of a plugin at work", s.client.Kill)
		nothingLeft(t, k, "Kill", s.temp, out)
		if after := names(out); len(after) < len(before) {
			t.Errorf("files of earlier runs must stay until they are replaced; there were %q, and there are %q", before, after)
		}
	}
}
