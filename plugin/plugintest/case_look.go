package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// ask streams a table to a path of DoPut and returns the answers.
func (s *service) ask(ctx context.Context, path []string, batches ...arrow.Record) ([][]byte, error) {
	stream, err := s.flights.DoPut(ctx)
	if err != nil {
		return nil, err
	}
	sent := make(chan error, 1)
	to := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path}
	go func() { sent <- write(stream, to, batches...) }()
	var answers [][]byte
	for {
		result, err := stream.Recv()
		if err == nil {
			answers = append(answers, result.GetAppMetadata())
			continue
		}
		failed := <-sent
		if err != io.EOF {
			return answers, err
		}
		return answers, failed
	}
}

// look is what the path look says of a table.
func (s *service) look(ctx context.Context, j fields, batches ...arrow.Record) (*job.Look, error) {
	answers, err := s.ask(ctx, []string{protocol.PathLook, string(text(j))}, batches...)
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, fmt.Errorf("the path look must have one answer, and has %d", len(answers))
	}
	look := new(job.Look)
	if err := json.Unmarshal(answers[0], look); err != nil {
		return nil, errors.Join(fmt.Errorf("the answer of the path look must be JSON: %.200q", answers[0]), err)
	}
	return look, nil
}

// A look says what a table is that a run would refuse, and the job of its answer recovers
// from it.
func looks(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	const row, column = 37, 2
	of := chain(31, 6, 200)
	table := withNull(of, row, column)
	l, err := s.look(ctx, quick().with("labels", map[string]string{"request": "4711"}), batches(table, 50)...)
	fatal(t, "DoPut to the path look", err)
	name := of.names[column]
	if m := l.Input.Missing; m == nil || m.Values != 1 || l.WholeSamples != 199 || len(l.MostMissing) != 1 || l.MostMissing[0] != (job.NamedCount{Name: name, Count: 1}) {
		t.Errorf("of a table with one null, of %q, a look must say so; it says %+v, %d whole samples, %+v", name, l.Input.Missing, l.WholeSamples, l.MostMissing)
	}
	if l.Input.Samples != 200 || l.Input.Variables != 6 || l.Command == "" || l.Job.Labels["request"] != "4711" || !slices.Equal(l.Job.Solvers, []string{"bcd"}) {
		t.Errorf("a look must tell the samples, 200, the variables, 6, and the job with what to do about the table; it tells %+v", l)
	}
	_, err = s.put(ctx, quick().command(), table)
	refusal{codes: []codes.Code{codes.InvalidArgument}, column: name, row: row}.check(t, "a run of the table without the job of the look", err)
	run, err := s.put(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: text(l.Job)}, table)
	fatal(t, "DoPut with the job of a look", err)
	records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet", err)
	rightEdges(t, of, edgesOf(t, records))

	for _, c := range badTableCases() {
		switch c.name { // what a look is for
		case "NaN in a plain column", "NaN in a list", "a null", "a constant variable":
			if _, err := s.look(ctx, quick(), c.batches...); err != nil {
				t.Errorf("%s must be looked at, and is refused: %v", c.name, err)
			}
		default:
			_, err := s.look(ctx, quick(), c.batches...)
			c.want.check(t, "a look at "+c.name, err)
		}
	}
	_, err = s.look(ctx, quick().with("penalty", "much"), table)
	field("penalty").check(t, "a look with a bad field", err)
	_, err = s.look(ctx, quick().with("input", "/nothing.csv"), table)
	field("input").check(t, "a look at samples with a job that names a table", err)
	for _, path := range [][]string{{protocol.PathLook}, {"frobnicate", "{}"}} {
		_, err = s.ask(ctx, path, table)
		invalid(protocol.ReasonInvalidCall).check(t, fmt.Sprintf("DoPut to the path %q", path), err)
	}
	_, err = s.act(ctx, protocol.ActionLook, quick())
	field("input").check(t, "the action look of a job without an input", err)
	s.lives(t, "looks")
	runs, err := s.runs(ctx)
	fatal(t, "ListFlights", err)
	if slices.ContainsFunc(runs, func(r protocol.RunInfo) bool { return len(r.Solvers) == 0 }) {
		t.Errorf("a look that has ended is not kept; ListFlights tells of %+v", runs)
	}
}

// The action look is for files, and sees what the path sees.
func looksAtFiles(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	d, err := answer[plugin.Description](ctx, s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if d.Files != "any" {
		t.Skipf("the service opens no files of its callers' choice (files: %q)", d.Files)
	}
	of := chain(32, 5, 80)
	path := filepath.Join(t.TempDir(), "samples.csv")
	fatal(t, "writing the samples", os.WriteFile(path, of.csv(), 0o600))
	file, err := answer[job.Look](ctx, s, protocol.ActionLook, fields{"input": path})
	fatal(t, "the action look", err)
	stream, err := s.look(ctx, fields{}, of.plain())
	fatal(t, "DoPut to the path look", err)
	if file.Input.Path != path || file.Input.Samples != 80 || file.Ratio != stream.Ratio || file.MedianKurtosis != stream.MedianKurtosis || file.LargestDeviation != stream.LargestDeviation {
		t.Errorf("the action look must see in a file what the path look sees in a stream, %+v; it sees %+v", stream, file)
	}
}

// A look is held to the limits of runs, and ends as they do.
func looksEnd(t *testing.T, k *kit) {
	s := k.start(t)
	begin := func() (flight.FlightService_DoPutClient, context.CancelFunc, protocol.Run) {
		ctx, cancel := context.WithCancel(soon(t))
		t.Cleanup(cancel)
		stream, err := s.flights.DoPut(ctx)
		fatal(t, "DoPut", err)
		to := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathLook, "{}"}}
		partly(t, stream, to, batches(chain(33, 10, 100).lists(), 50)[:1])
		return stream, cancel, s.only(t)
	}
	k.promptly(t, "a look whose caller has hung up must have ended", func() time.Duration {
		_, cancel, _ := begin()
		cancel()
		return s.untilIdle(t, "the caller of a look has hung up")
	})
	k.promptly(t, "the action cancel must have ended the look and its DoPut", func() time.Duration {
		stream, _, run := begin()
		time.Sleep(50 * time.Millisecond) // it is waiting for samples
		began := time.Now()
		_, err := s.act(soon(t), protocol.ActionCancel, run)
		fatal(t, "the action cancel", err)
		_, err = stream.Recv()
		took := time.Since(began)
		if status.Code(err) != codes.Canceled {
			t.Fatalf("the DoPut of a look that was cancelled must end with Canceled; it has ended with %v", err)
		}
		return took
	})
	d, err := answer[plugin.Description](soon(t), s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	if n := d.Limits.Variables; n <= 100_000 {
		_, err := s.look(soon(t), fields{}, chain(22, n+1, 2).lists())
		refusal{codes: []codes.Code{codes.ResourceExhausted}, reason: protocol.ReasonLimit}.check(t, fmt.Sprintf("a look at more than limits.variables, %d,", n), err)
	}
	s.lives(t, "looks that were ended")
}
