package plugintest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// The same samples give the same edges, however they are sent.
func forms(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	table := chain(4, 10, 300)
	var want []edge
	for _, form := range []struct {
		name    string
		batches []arrow.Record
	}{
		{"one batch of plain columns", []arrow.Record{table.plain()}},
		{"one batch of lists", []arrow.Record{table.lists()}},
		{"plain columns, a row a batch", batches(table.plain(), 1)},
		{"lists, a row a batch", batches(table.lists(), 1)},
		{"lists, 7 rows a batch, and empty batches between", withEmpty(batches(table.lists(), 7))},
	} {
		run, err := s.put(ctx, fields{"solvers": []string{"bcd"}, "penalty": 0.1, "edges": "all"}.command(), form.batches...)
		fatal(t, "DoPut of "+form.name, err)
		records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
		fatal(t, "DoGet", err)
		edges := edgesOf(t, records)
		if want == nil {
			want = edges
			rightEdges(t, table, edges)
		}
		sameEdges(t, form.name, edges, want)
	}
}

// withEmpty puts a batch without rows after every batch.
func withEmpty(list []arrow.Record) []arrow.Record {
	var more []arrow.Record
	for _, r := range list {
		more = append(more, r, r.NewSlice(0, 0))
	}
	return more
}

// An exchange gives the same edges as a run, of the solver named or of glad.
func exchanges(t *testing.T, k *kit) {
	c := k.launch(t)
	ctx := soon(t)
	table := chain(5, 10, 300)
	for _, named := range [][]string{{"bcd"}, {"glad"}, nil} {
		j := job.Job{Solvers: named, Penalty: "0.1"}
		run, err := c.Recover(ctx, j, reader(table.plain()))
		fatal(t, "Recover", err)
		solver := slices.Concat(named, []string{"glad"})[0]
		want := edgesOf(t, taken(t, run.Edges, solver))
		r, err := c.Exchange(ctx, j, reader(table.plain()))
		fatal(t, "Exchange", err)
		sameEdges(t, fmt.Sprintf("DoExchange with the solvers %q", named), edgesOf(t, drained(t, r)), want)
	}
	runs, err := c.Runs(ctx)
	fatal(t, "ListFlights", err)
	if len(runs) != 3 {
		t.Errorf("the run of an exchange lives as long as the call, so ListFlights must tell of the 3 runs of DoPut only; it tells of %d", len(runs))
	}
}

// echo sends back what was sent, also more than 4 MiB in a message.
func echoes(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	small, big := chain(6, 3, 10), chain(7, 500, 2000)
	small.rows[4], small.rows[7] = math.SmallestNonzeroFloat64, -math.MaxFloat64/4
	for name, c := range map[string]struct {
		table   table
		batches []arrow.Record
	}{
		"plain columns":              {small, batches(small.plain(), 4)},
		"lists":                      {small, batches(small.lists(), 4)},
		"lists, 8 MB in one message": {big, []arrow.Record{big.lists()}},
		"plain columns, 8 MB":        {big, []arrow.Record{big.plain()}},
	} {
		records, err := s.exchange(ctx, echoPath(), c.batches...)
		fatal(t, "the exchange with the path echo, "+name, err)
		columnsAre(t, "what echo sends back", records[0].Schema(), fmt.Sprintf("sample:fixed_size_list<item: float64, nullable>[%d]", len(c.table.names)))
		if want := string(text(c.table.names)); metadataOf(records[0], "gladflow.names") != want {
			t.Errorf("the field must have the names as JSON in its metadata, gladflow.names: %s; it has %.200q", want[:min(len(want), 200)], metadataOf(records[0], "gladflow.names"))
		}
		var got []float64
		for _, r := range records {
			lists, d := r.Column(0).(*array.FixedSizeList), len(c.table.names)
			from := lists.Data().Offset() * d
			got = append(got, lists.ListValues().(*array.Float64).Float64Values()[from:from+lists.Len()*d]...)
		}
		if !slices.Equal(got, c.table.rows) {
			t.Errorf("echo (%s) must send back the samples that were sent, in their order; there are %d values of %d, or others", name, len(got), len(c.table.rows))
		}
	}
}

func echoPath() *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}}
}

func metadataOf(r arrow.Record, key string) string {
	m := r.Schema().Field(0).Metadata
	if i := m.FindKey(key); i >= 0 {
		return m.Values()[i]
	}
	return ""
}

// 5,000 variables, as columns and as lists: the network is in ten of them, the
// penalty so high that the rest falls apart.
func wide(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	table := strewn(5000, 24)
	var want []edge
	for name, r := range map[string]arrow.Record{"plain columns": table.plain(), "lists": table.lists()} {
		began := time.Now()
		run, err := s.put(ctx, fields{"solvers": []string{"bcd"}, "penalty": 0.97}.command(), r)
		fatal(t, "DoPut of 5,000 variables as "+name, err)
		records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
		fatal(t, "DoGet", err)
		edges := edgesOf(t, records)
		t.Logf("%s: %d edges in %v", name, len(edges), time.Since(began).Round(time.Millisecond))
		if want == nil {
			want = edges
		}
		sameEdges(t, name+" of 5,000 variables", edges, want)
		if len(edges) != 5 {
			t.Errorf("5 pairs of 5,000 variables are nearly the same, and edges %+v were found", edges)
		}
		for _, e := range edges {
			if e.sign != 1 || table.twin(e.source) != e.target {
				t.Errorf("5 pairs of 5,000 variables are nearly the same; the edge %+v is none of them", e)
			}
		}
		_, err = s.act(ctx, protocol.ActionForget, run)
		fatal(t, "the action forget", err)
	}
}
