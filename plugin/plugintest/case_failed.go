package plugintest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// failedWriting has a run of two solvers that cannot write the files of the first,
// for a folder has their name: whoever asks for the run hears of it, and what was
// found can be had all the same.
func failedWriting(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	d, err := answer[plugin.Description](ctx, s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Files != "any" {
		t.Skipf("the service writes no files where its callers say (files: %q)", d.Files)
	}
	table := chain(27, 8, 400)
	out := t.TempDir()
	for _, name := range []string{"bcd.edges.parquet", "bcd.precision.parquet"} {
		fatal(t, "making a folder", os.MkdirAll(filepath.Join(out, name, "in the way"), 0o700))
	}
	j := quick().with("solvers", []string{"bcd", "admm"}).with("out", out)
	run, err := s.put(ctx, j.command(), table.lists())
	fatal(t, "DoPut", err)
	failed := refusal{codes: []codes.Code{codes.Internal}, reason: protocol.ReasonFailed}

	result, failure := s.resultOf(t, run)
	failed.check(t, "the action result of a run that could not write a file", failure)
	said := protocol.FaultOf(failure).Message
	if !result.Partial || result.Error != said || len(result.Solvers) != 2 {
		t.Fatalf("the document of a run that has failed must be partial, have the run's error, %q, and both solvers; it is %+v", said, result)
	}
	if first := result.Solvers[0]; first.Error == "" || len(first.Files) > 0 {
		t.Errorf("a solver whose files could not be written must have an error and no files; it is %+v", first)
	}
	if second := result.Solvers[1]; second.Error != "" || len(second.Files) < 2 {
		t.Errorf("a solver whose files could be written must have them and no error; it is %+v", second)
	}
	filesAre(t, out, result.Solvers[1].Files)
	for _, solver := range []string{"bcd", "admm"} {
		records, err := s.get(ctx, protocol.Ticket{Run: run.Run, Solver: solver})
		fatal(t, "DoGet of a solver that has finished, in a run that could not write a file,", err)
		rightEdges(t, table, edgesOf(t, records))
	}

	events, err := s.act(ctx, protocol.ActionWatch, run)
	fatal(t, "the action watch", err)
	var last protocol.Event
	fatal(t, "the last event", json.Unmarshal(events[len(events)-1], &last))
	if last.State != protocol.StateFailed || last.Error == nil || last.Error.Message != said {
		t.Errorf("the last event must be failed, with the error of the action result, %q; it is %+v", said, last)
	}
	runs, err := s.runs(ctx)
	fatal(t, "ListFlights", err)
	if len(runs) != 1 || runs[0].State != protocol.StateFailed || runs[0].Error == nil || runs[0].Error.Message != said {
		t.Errorf("ListFlights must tell of the run, failed, with the error of the action result, %q; it tells of %+v", said, runs)
	}
	_, err = s.exchange(ctx, quick().with("out", out).command(), table.lists())
	failed.check(t, "an exchange that could not write a file", err)
}

// resultOf is the one document of the action result, and the error that the call
// ends with after it.
func (s *service) resultOf(t testing.TB, run protocol.Run) (result job.Result, failure error) {
	t.Helper()
	bodies, failure := s.act(soon(t), protocol.ActionResult, run)
	if len(bodies) != 1 {
		t.Fatalf("the action result must have one result, also of a run that has failed, before its error; it has %d, and the error is %v", len(bodies), failure)
	}
	fatal(t, "the document of the action result", json.Unmarshal(bodies[0], &result))
	return result, failure
}

// filesAre checks files of results against what the document says of them.
func filesAre(t testing.TB, folder string, files []job.WrittenFile) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(folder, f.Name)
		if err := whole(path); err != nil {
			t.Errorf("the file %s of the results: %v", f.Name, err)
			continue
		}
		data, err := os.ReadFile(path)
		fatal(t, "reading a file of the results", err)
		sum := sha256.Sum256(data)
		if f.Bytes != int64(len(data)) || f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("the document must have the size and the SHA-256 of %s, %d and %x; it has %d and %q", f.Name, len(data), sum, f.Bytes, f.SHA256)
		}
	}
}
