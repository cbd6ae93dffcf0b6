package server

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Labels come back in events, the result, what is listed and the metadata, and runs
// are found by them.
func TestLabelsComeBack(t *testing.T) {
	_, c := served(t, Config{})
	g := guest{Client: c, ctx: bg(t)}
	want := map[string]string{"request": "4711", "team/x": "é = \"x\""}
	labelled := g.run(t, `{"solvers":["bcd"],"penalty":0.1,"labels":{"request":"4711","team/x":"é = \"x\""}}`)
	plain := g.run(t, quickJob)

	events, err := act(g.ctx, c, protocol.ActionWatch, `{"run":"`+labelled+`"}`)
	if err != nil || len(events) < 3 {
		t.Fatal(events, err)
	}
	for _, text := range events {
		var e protocol.Event
		if err := json.Unmarshal(text, &e); err != nil || !maps.Equal(e.Labels, want) {
			t.Errorf("%s, %v", text, err)
		}
	}
	results, err := act(g.ctx, c, protocol.ActionResult, `{"run":"`+labelled+`"}`)
	var result job.Result
	if err != nil || json.Unmarshal(results[0], &result) != nil || !maps.Equal(result.Job.Labels, want) {
		t.Errorf("the result: %v, %q", err, result.Job.Labels)
	}
	tables, err := get(g.ctx, c, protocol.Ticket{Run: labelled})
	if err != nil {
		t.Fatal(err)
	}
	metadata := tables[0].Schema().Metadata()
	var inTable map[string]string
	if i := metadata.FindKey("gladflow.labels"); i < 0 || json.Unmarshal([]byte(metadata.Values()[i]), &inTable) != nil || !maps.Equal(inTable, want) {
		t.Errorf("the metadata of a table: %v", metadata)
	}
	info, err := c.GetFlightInfo(g.ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{labelled}})
	var known protocol.RunInfo
	if err != nil || json.Unmarshal(info.AppMetadata, &known) != nil || !maps.Equal(known.Labels, want) {
		t.Errorf("GetFlightInfo: %v, %+v", err, known)
	}

	for criteria, found := range map[string][]string{
		`{}`:                            {labelled, plain},
		`{"labels":{}}`:                 {labelled, plain},
		`{"labels":{"request":"4711"}}`: {labelled},
		`{"labels":{"request":"4711","team/x":"é = \"x\""}}`:  {labelled},
		`{"labels":{"request":"471"}}`:                        nil,
		`{"labels":{"request":"4711","more":""}}`:             nil,
		`{"run":"` + plain + `"}`:                             {plain},
		`{"run":"` + plain + `","labels":{"request":"4711"}}`: nil,
	} {
		var list []string
		for _, r := range g.runs(t, criteria) {
			list = append(list, r.Run)
		}
		if !slices.Equal(list, found) {
			t.Errorf("%s finds %q, want %q", criteria, list, found)
		}
	}
}

// quotation is a value in a text log that is not one plain word.
var quotation = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// Nothing in a job, its labels or its caller makes a line of the log that the service
// has not written, or moves the cursor of a terminal.
func TestLogCannotBeForged(t *testing.T) {
	const line, escape = "x\n2026-01-01T00:00:00Z [INFO]  gladflow: run ended: run=FORGED\r\n", "\x1b[2J\u009b2J\a\u202e"
	for _, format := range []string{"text", "json"} {
		var log logtest.Log
		logger := hclog.New(&hclog.LoggerOptions{Name: "gladflow", Output: &log, JSONFormat: format == "json"})
		clients := newAuthority(t)
		g := serviceOf(t, "", clients, Config{Logger: logger})
		who := g.guest(t, "", clients.identity(t, named(line+escape)))
		for _, labels := range []map[string]string{{"k": line}, {"k": escape}, {line: "v"}, {escape: "v"}, {"k\" run=\"FORGED": "v"}} {
			document, err := json.Marshal(map[string]any{"solvers": []string{"bcd"}, "penalty": 0.1, "labels": labels})
			if err != nil {
				t.Fatal(err)
			}
			_, err = put(who.ctx, t, who.Client, string(document), sampled(t, 4, 20))
			f := wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, "labels")
			if strings.ContainsFunc(f.Message, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("the error has what cannot be printed: %q", f.Message)
			}
		}
		who.run(t, `{"solvers":["bcd"],"penalty":0.1,"labels":{"state":"done\" run=\"FORGED","run":"FORGED","a":"x run=FORGED","b":"\\\" run=FORGED y=\""}}`)
		// A table that is not there has its name in the lines of its run.
		text, err := flighttest.Action(who.ctx, who.conn, protocol.ActionRecover, map[string]any{"input": line + escape + ".csv", "solvers": []string{"bcd"}})
		if err != nil {
			t.Fatal(err)
		}
		var r protocol.Run
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		if _, err := act(who.ctx, who.Client, protocol.ActionResult, string(text)); err == nil {
			t.Error("a job without its table succeeds")
		}

		runs := 0
		for line := range strings.Lines(log.String()) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s: the line %q cannot be printed", format, line)
			}
			if format == "json" {
				var entry map[string]any
				if err := json.Unmarshal([]byte(line), &entry); err != nil {
					t.Errorf("the line %q: %v", line, err)
				}
				if entry["run"] == "FORGED" {
					t.Errorf("the line %q is of a run that there is not", line)
				}
			} else if unquoted := quotation.ReplaceAllString(line, ""); strings.Contains(strings.ReplaceAll(unquoted, "label.run=FORGED", ""), "FORGED") {
				t.Errorf("the line %q is forged", line)
			}
			if strings.Contains(line, "run started") {
				runs++
			}
		}
		if runs != 2 {
			t.Errorf("%s: %d runs in the log, want 2:\n%s", format, runs, log.String())
		}
		if format == "json" && !strings.Contains(log.String(), `"label.state":"done\" run=\"FORGED"`) || format == "text" && !strings.Contains(log.String(), `label.run=FORGED`) {
			t.Errorf("%s: the labels are not in the log:\n%s", format, log.String())
		}
	}
}
