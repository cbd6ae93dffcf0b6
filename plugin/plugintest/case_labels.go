package plugintest

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// labels are a caller's words on its job: they come back wherever the service tells
// of the run, and what could forge a line of a log is refused.
func labels(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	table := chain(4, 6, 100)
	want := map[string]string{"request": "4711", "team/lab.x-1_Y": "é = \"x\"", "empty": ""}
	run, err := s.put(ctx, quick().with("labels", want).command(), table.lists())
	fatal(t, "DoPut of a job with labels", err)
	other, err := s.put(ctx, quick().command(), table.lists())
	fatal(t, "DoPut", err)

	result, err := answer[job.Result](ctx, s, protocol.ActionResult, run)
	fatal(t, "the action result", err)
	labelsAre(t, "the job in the result", result.Job.Labels, want)
	events, err := s.act(ctx, protocol.ActionWatch, run)
	fatal(t, "the action watch", err)
	for _, text := range events {
		var event protocol.Event
		fatal(t, "an event", json.Unmarshal(text, &event))
		labelsAre(t, "every event", event.Labels, want)
	}
	records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet", err)
	var inTable map[string]string
	metadata := records[0].Schema().Metadata()
	if i := metadata.FindKey("gladflow.labels"); i < 0 || json.Unmarshal([]byte(metadata.Values()[i]), &inTable) != nil {
		t.Errorf("the metadata of a table must have the labels of its job as JSON, under gladflow.labels; they have the keys %q", metadata.Keys())
	}
	labelsAre(t, "the metadata of a table", inTable, want)
	runs, err := s.runs(ctx)
	fatal(t, "ListFlights", err)
	for _, r := range runs {
		if r.Run == run.Run {
			labelsAre(t, "the app_metadata of ListFlights", r.Labels, want)
		} else if len(r.Labels) > 0 {
			t.Errorf("a run without labels must have none; ListFlights tells of %q", r.Labels)
		}
	}

	for _, c := range []struct {
		wanted protocol.Criteria
		has    []string
	}{
		{protocol.Criteria{Labels: map[string]string{"request": "4711"}}, []string{run.Run}},
		{protocol.Criteria{Labels: map[string]string{"request": "4711", "empty": ""}, Run: run.Run}, []string{run.Run}},
		{protocol.Criteria{Labels: map[string]string{"request": "4712"}}, nil},
		{protocol.Criteria{Labels: map[string]string{"request": "4711", "other": ""}}, nil},
		{protocol.Criteria{Labels: map[string]string{"empty": ""}, Run: other.Run}, nil},
	} {
		stream, err := s.flights.ListFlights(ctx, &flight.Criteria{Expression: text(c.wanted)})
		fatal(t, "ListFlights with criteria", err)
		found := make(map[string]bool)
		for {
			info, err := stream.Recv()
			if err != nil {
				fatal(t, "ListFlights with criteria", ended(err))
				break
			}
			found[info.GetFlightDescriptor().GetPath()[0]] = true
		}
		if len(found) != len(c.has) || len(c.has) == 1 && !found[c.has[0]] {
			t.Errorf("ListFlights with the criteria %s must list the runs %q, those whose labels have all of these; it lists %v", text(c.wanted), c.has, found)
		}
	}

	many := make(map[string]string)
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFG" {
		many[string(c)] = ""
	}
	for what, wrong := range map[string]any{
		"no map": "x", "33 of them": many, "a list as a value": map[string]any{"a": []string{"b"}},
		"a key with a blank": map[string]string{"a b": ""}, "a key without letters": map[string]string{"": "x"},
		"a key of 65 bytes": map[string]string{strings.Repeat("k", 65): ""}, "a value of 257 bytes": map[string]string{"k": strings.Repeat("v", 257)},
		"two lines": map[string]string{"k": "a\nb"}, "an escape": map[string]string{"k": "\x1b[2J"},
	} {
		_, err := s.put(ctx, quick().with("labels", wrong).command(), table.lists())
		field("labels").check(t, "a job with labels that are wrong: "+what, err)
	}
}

func labelsAre(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s must have the labels of the job, %q; it has %q", what, want, got)
	}
}
