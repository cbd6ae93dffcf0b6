package plugintest

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// recovers is the way of most callers, by package plugin: samples in, the
// networks of two solvers out.
func recovers(t *testing.T, k *kit) {
	c := k.launch(t)
	ctx := soon(t)
	table := chain(1, 12, 600)
	run, err := c.Recover(ctx, job.Job{Solvers: []string{"glad", "bcd"}, Penalty: "0.1"}, reader(table.lists()))
	fatal(t, "Recover", err)
	last := watched(t, run)
	if last.State != protocol.StateDone {
		t.Fatalf("the last event of a run must have its final state, done; it is %+v", last)
	}
	result, err := run.Result(ctx)
	fatal(t, "the action result", err)
	if !slices.Equal(result.Variables, table.names) || result.Input.Samples != 600 || result.Input.Variables != 12 {
		t.Errorf("the document of the result must name the variables and say that there were 600 samples of 12; it has %q, %d, %d",
			result.Variables, result.Input.Samples, result.Input.Variables)
	}
	if len(result.Solvers) != 2 || result.Solvers[0].Name != "glad" || result.Solvers[1].Name != "bcd" {
		t.Fatalf("the document of the result must have the solvers in the job's order, glad and bcd; it has %+v", result.Solvers)
	}
	for _, solver := range result.Solvers {
		edges := edgesOf(t, taken(t, run.Edges, solver.Name))
		t.Logf("%s: %s, %d edges, the first %+v", solver.Name, solver.Status, len(edges), edges[0])
		rightEdges(t, table, edges)
		if len(edges) != solver.Edges {
			t.Errorf("%s: the document says %d edges, and the table has %d", solver.Name, solver.Edges, len(edges))
		}
		precisionIs(t, table, edges, taken(t, run.Precision, solver.Name), solver.Name == "bcd")
	}
	runs, err := c.Runs(ctx)
	fatal(t, "ListFlights", err)
	if len(runs) != 1 || runs[0].Run != run.ID() || runs[0].State != protocol.StateDone || runs[0].Bytes <= 0 ||
		!slices.Equal(runs[0].Solvers, []string{"glad", "bcd"}) || !slices.Equal(runs[0].Finished, runs[0].Solvers) {
		t.Errorf("ListFlights must tell of the one run, done, with glad and bcd finished and the memory of its results; it tells of %+v", runs)
	}
}

// watched reads the events of a run and returns the last.
func watched(t testing.TB, run *plugin.Run) protocol.Event {
	t.Helper()
	var last protocol.Event
	done := make(map[string]bool)
	for event, err := range run.Progress(soon(t)) {
		fatal(t, "the action watch", err)
		if last.State.Ended() {
			t.Errorf("no event may follow the last, %+v; there is %+v", last, event)
		}
		if event.Run != run.ID() {
			t.Errorf("every event must name its run; there is %+v", event)
		}
		if f := event.Fraction; f != nil && !(*f >= 0 && *f <= 1) {
			t.Errorf("a fraction must be between 0 and 1; there is %+v", event)
		}
		if event.Done {
			done[event.Stage+" "+event.Solver] = true
		}
		last = event
	}
	for _, stage := range []string{"reading ", "solving glad", "solving bcd"} {
		if !done[stage] {
			t.Errorf("the action watch must tell of the end of every stage, with done: true, also to one who asks late; it has not told of %q but of %v", stage, done)
		}
	}
	return last
}

// precisionIs checks the table of a precision matrix against that of edges.
// exact says that its entries are those of the edges: where edges go by their probability,
// the matrix has entries of other pairs too, and need not have those of all edges.
func precisionIs(t testing.TB, of table, edges []edge, records []arrow.Record, exact bool) {
	t.Helper()
	columnsAre(t, "the table of the precision matrix", records[0].Schema(), "row:utf8", "column:utf8", "value:float64")
	entries := make(map[[2]string]float64)
	for _, r := range records {
		row, column, value := r.Column(0).(*array.String), r.Column(1).(*array.String), r.Column(2).(*array.Float64)
		for i := range int(r.NumRows()) {
			at := pair(row.Value(i), column.Value(i))
			if _, twice := entries[at]; twice {
				t.Fatalf("the table of the precision matrix must have every entry once, of the upper triangle; %q is there twice", at)
			}
			entries[at] = value.Value(i)
		}
	}
	for _, name := range of.names {
		if v := entries[pair(name, name)]; !(v > 0) {
			t.Errorf("the diagonal of a precision matrix is positive; the entry of %q is %v", name, v)
		}
	}
	if !exact {
		return
	}
	if want := len(edges) + len(of.names); len(entries) != want {
		t.Errorf("the table of the precision matrix must have the diagonal and the entries of the edges, %d; it has %d", want, len(entries))
	}
	for _, e := range edges {
		v, ok := entries[pair(e.source, e.target)]
		if !ok || v != e.precision {
			t.Errorf("the precision matrix must have the entry of every edge; %+v has %v, %v", e, v, ok)
		}
		partial := -v / math.Sqrt(entries[pair(e.source, e.source)]*entries[pair(e.target, e.target)])
		if math.Abs(partial-e.partial) > 1e-9 {
			t.Errorf("the partial correlation is -Θij/√(Θii Θjj), here %v; the edge is %+v", partial, e)
		}
	}
}

// A job that names files needs no stream: table in, folder out.
func files(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	d, err := answer[plugin.Description](ctx, s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Files != "any" {
		t.Skipf("the service opens no files of its callers' choice (files: %q)", d.Files)
	}
	table := chain(2, 8, 400)
	folder := t.TempDir()
	input := filepath.Join(folder, "samples.csv")
	fatal(t, "writing the samples", os.WriteFile(input, table.csv(), 0o600))
	out := filepath.Join(folder, "out")
	j := quick().with("input", input).with("out", out)
	run, err := answer[protocol.Run](ctx, s, protocol.ActionRecover, j)
	fatal(t, "the action recover", err)
	result, err := answer[job.Result](ctx, s, protocol.ActionResult, run)
	fatal(t, "the action result", err)
	records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet", err)
	rightEdges(t, table, edgesOf(t, records))
	if len(result.Solvers) != 1 || len(result.Solvers[0].Files) < 2 {
		t.Fatalf("the result must name the files that were written, of edges and of the precision matrix; it has %+v", result.Solvers)
	}
	filesAre(t, out, result.Solvers[0].Files)
	if err := whole(filepath.Join(out, "run.json")); err != nil {
		t.Errorf("the file run.json of the results: %v", err)
	}
	_, err = s.act(ctx, protocol.ActionRecover, j.with("input", filepath.Join(folder, "nothing.csv")))
	if err == nil {
		t.Log("a missing file is told by the run and not by the action recover, which is allowed")
	}
	_, err = s.act(ctx, protocol.ActionRecover, quick())
	field("input").check(t, "the action recover of a job without an input", err)
}

// alike is how many of the solvers have a table of edges with the columns of the first's:
// probabilities of edges are there for some only.
func alike(ctx context.Context, t testing.TB, s *service, run string, solvers ...string) int {
	t.Helper()
	n := 0
	var first *arrow.Schema
	for _, name := range solvers {
		records, err := s.get(ctx, protocol.Ticket{Run: run, Table: protocol.TableEdges, Solver: name})
		fatal(t, "DoGet of "+name, err)
		edgesOf(t, records)
		if first == nil {
			first = records[0].Schema()
		}
		if slices.EqualFunc(first.Fields(), records[0].Schema().Fields(), func(a, b arrow.Field) bool { return a.Name == b.Name }) {
			n++
		}
	}
	return n
}

// flights are what a generic client of Flight sees of a run.
func flights(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	table := chain(3, 8, 400)
	run, err := s.put(ctx, fields{"solvers": []string{"bcd", "glad"}, "penalty": 0.1}.command(), table.plain())
	fatal(t, "DoPut", err)
	_, err = s.act(ctx, protocol.ActionResult, run)
	fatal(t, "the action result", err)
	for _, path := range [][]string{{run.Run}, {run.Run, "edges"}, {run.Run, "precision", "glad"}} {
		info, err := s.flights.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path})
		fatal(t, "GetFlightInfo", err)
		want := 1
		if len(path) < 3 {
			want = alike(ctx, t, s, run.Run, "bcd", "glad")
		}
		if len(info.GetEndpoint()) != want {
			t.Errorf("GetFlightInfo of %q must have an endpoint for each of the job's solvers whose edges have the columns of the first's, or for the one named: %d; it has %d", path, want, len(info.GetEndpoint()))
		}
		total := int64(0)
		for _, e := range info.GetEndpoint() {
			stream, err := s.flights.DoGet(ctx, e.GetTicket())
			fatal(t, "DoGet of an endpoint's ticket", err)
			records, err := readAll(stream)
			fatal(t, "DoGet of an endpoint's ticket", err)
			described, err := flight.DeserializeSchema(info.GetSchema(), memory.DefaultAllocator)
			fatal(t, "the schema of GetFlightInfo", err)
			if !described.Equal(records[0].Schema()) {
				t.Errorf("the schema of GetFlightInfo of %q must be that of the table, %v; it is %v", path, records[0].Schema(), described)
			}
			for _, r := range records {
				total += r.NumRows()
			}
		}
		if n := info.GetTotalRecords(); n != total && n != -1 {
			t.Errorf("GetFlightInfo of %q must tell the number of rows, %d, or -1; it tells %d", path, total, n)
		}
		var told protocol.RunInfo
		if err := json.Unmarshal(info.GetAppMetadata(), &told); err != nil || told.Run != run.Run || told.State != protocol.StateDone {
			t.Errorf("the app_metadata of GetFlightInfo must describe the run, which is done; it is %.300q", info.GetAppMetadata())
		}
	}
}

// taken is a table of a run, whole.
func taken(t testing.TB, get func(context.Context, string) (array.RecordReader, error), solver string) []arrow.Record {
	t.Helper()
	r, err := get(soon(t), solver)
	fatal(t, "DoGet", err)
	return drained(t, r)
}

// drained reads a reader to its end and releases it.
func drained(t testing.TB, r array.RecordReader) []arrow.Record {
	t.Helper()
	defer r.Release()
	var records []arrow.Record
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	fatal(t, "reading a table", r.Err())
	if len(records) == 0 {
		records = append(records, emptyRecord(r.Schema()))
	}
	return records
}
