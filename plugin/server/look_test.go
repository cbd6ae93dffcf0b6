package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// putTo streams a table to a path of DoPut and returns the answers and the status.
func putTo(ctx context.Context, t testing.TB, c flight.Client, table arrow.Record, path ...string) ([][]byte, error) {
	t.Helper()
	stream, err := c.DoPut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path})
	w.Write(table) // the status says what is wrong
	w.Close()
	stream.CloseSend()
	var answers [][]byte
	for {
		result, err := stream.Recv()
		if err == io.EOF {
			return answers, nil
		}
		if err != nil {
			return answers, err
		}
		answers = append(answers, result.AppMetadata)
	}
}

// gaps is a table with a missing value, a variable that does not vary and two that are the
// same.
func gaps(t testing.TB) arrow.Record {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 2))
	columns := make([]arrowio.Column, 6)
	for j := range columns {
		values := make([]float64, 60)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		columns[j] = arrowio.Column{Name: fmt.Sprintf("gene%d", j), Values: values}
	}
	columns[1].Values.([]float64)[3] = math.NaN()
	for i := range columns[2].Values.([]float64) {
		columns[2].Values.([]float64)[i] = 7
	}
	copy(columns[4].Values.([]float64), columns[3].Values.([]float64))
	r, err := arrowio.NewRecord(columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A table that is streamed, and one in a file, are looked at in the same way, by the limits
// and the words of a run, and the job of the answer runs.
func TestLook(t *testing.T) {
	folder := t.TempDir()
	s, c := served(t, Config{Files: folder})
	ctx, table := bg(t), gaps(t)
	answers, err := putTo(ctx, t, c, table, protocol.PathLook, `{"gap":0.5}`)
	if err != nil || len(answers) != 1 {
		t.Fatalf("%q, %v", answers, err)
	}
	var streamed job.Look
	if err := json.Unmarshal(answers[0], &streamed); err != nil {
		t.Fatal(err)
	}
	if m := streamed.Input.Missing; m == nil || m.Values != 1 || !slices.Equal(streamed.Input.Constant, []string{"gene2"}) || len(streamed.Repeats) != 1 ||
		streamed.Input.Path != "-" || streamed.Job.Missing != job.MissingRows || streamed.Job.Constant != job.ConstantDrop || streamed.Job.Gap != 0.5 {
		t.Errorf("%s", answers[0])
	}
	id, err := put(ctx, t, c, string(encode(streamed.Job)), table)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`); err != nil {
		t.Errorf("the job of the answer does not run: %v", err)
	}

	columns, _, err := arrowio.ColumnsOf(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := arrowio.WriteTable(filepath.Join(folder, "t.parquet"), arrowio.Parquet, columns, nil); err != nil {
		t.Fatal(err)
	}
	answers, err = act(ctx, c, protocol.ActionLook, `{"input":"t.parquet","gap":0.5}`)
	if err != nil || len(answers) != 1 {
		t.Fatalf("%q, %v", answers, err)
	}
	var read job.Look
	if err := json.Unmarshal(answers[0], &read); err != nil {
		t.Fatal(err)
	}
	read.Input.Path, read.Input.SHA256, read.Job.Input = streamed.Input.Path, streamed.Input.SHA256, streamed.Job.Input
	if read.Command = streamed.Command; string(encode(read)) != string(encode(streamed)) {
		t.Errorf("the file: %s\nthe stream: %s", encode(read), encode(streamed))
	}
	if running, _, bytes := s.runs.Stats(); running != 0 || s.runs.Reserved() > bytes {
		t.Errorf("%d runs go on, %d bytes are reserved", running, s.runs.Reserved())
	}
}

// What a look is refused is refused as to a run.
func TestLookRefused(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "one.csv"), []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := served(t, Config{Files: folder, Limits: protocol.Limits{Variables: 8, UploadBytes: 1 << 20}})
	ctx, good := bg(t), sampled(t, 4, 20)
	look := func(table arrow.Record, j string) error {
		_, err := putTo(ctx, t, c, table, protocol.PathLook, j)
		return err
	}
	wantFault(t, look(good, `{"missing":"perhaps"}`), codes.InvalidArgument, protocol.ReasonInvalidJob, "missing")
	wantFault(t, look(good, `{"input":"t.csv"}`), codes.InvalidArgument, protocol.ReasonInvalidJob, "input")
	wantFault(t, look(good, `{`), codes.InvalidArgument, protocol.ReasonInvalidJob, "")
	wantFault(t, look(good, `{"input_kind":"covariance","samples":9}`), codes.InvalidArgument, protocol.ReasonInvalidJob, "input_kind")
	wantFault(t, look(sampled(t, 4, 1), `{}`), codes.InvalidArgument, protocol.ReasonInvalidTable, "input")
	wantFault(t, look(sampled(t, 9, 20), `{}`), codes.ResourceExhausted, protocol.ReasonLimit, "")
	wantFault(t, look(wide(8, 20_000), `{}`), codes.ResourceExhausted, protocol.ReasonLimit, "")
	for _, path := range [][]string{{protocol.PathLook}, {protocol.PathLook, "{}", "{}"}, {"glance", "{}"}} {
		_, err := putTo(ctx, t, c, good, path...)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidCall, "")
	}
	for body, field := range map[string]string{`{}`: "input", `{"input":"-"}`: "input", `{"input":"none.csv"}`: "input", `{"input":"one.csv"}`: "input"} {
		_, err := act(ctx, c, protocol.ActionLook, body)
		if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.InvalidArgument || f.Field != field {
			t.Errorf("%s: %v", body, err)
		}
	}
	_, err := act(ctx, c, protocol.ActionLook, `{"input":"../t.csv"}`)
	wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, "input")
}

// A look takes memory and one of the places of runs, is listed while it is at work, and
// ends when its caller hangs up.
func TestLookIsARun(t *testing.T) {
	s, c := served(t, Config{Limits: protocol.Limits{ConcurrentRuns: 1}})
	ctx, hangUp := context.WithCancel(bg(t))
	defer hangUp()
	stream, err := c.DoPut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	table := sampled(t, 4, 20)
	w := flight.NewRecordWriter(stream, ipc.WithSchema(table.Schema()))
	w.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathLook, `{"labels":{"request":"4711"}}`}})
	if err := w.Write(table); err != nil {
		t.Fatal(err)
	}
	at := bg(t)
	var found protocol.RunInfo
	eventually(t, "a look at work is not listed", func() bool {
		list, err := c.ListFlights(at, &flight.Criteria{Expression: []byte(`{"labels":{"request":"4711"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		info, err := list.Recv()
		return err == nil && json.Unmarshal(info.AppMetadata, &found) == nil
	})
	if len(found.Solvers) != 0 || found.State != protocol.StateReceiving {
		t.Errorf("%+v", found)
	}
	_, err = get(at, c, protocol.Ticket{Run: found.Run})
	wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, "")
	_, err = put(at, t, c, quickJob, table)
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	hangUp()
	within(t, 2*time.Second, "the end of a look whose caller has hung up", func() {
		eventually(t, "the look goes on", func() bool { return s.Stats().Running == 0 })
	})
	if n := len(s.runs.List("")); n != 0 {
		t.Errorf("%d runs are kept", n)
	}
	if _, err := put(at, t, c, quickJob, table); err != nil {
		t.Error(err)
	}
}

// A table whose covariance has no room is refused before it is taken.
func TestLookNeedsMemory(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{MemoryBytes: memory.Process + 64<<20, MessageBytes: 4 << 20}})
	_, err := putTo(bg(t), t, c, wide(3000, 4), protocol.PathLook, `{}`)
	f := wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	if !strings.Contains(f.Message, "for the covariance of 3000 variables") {
		t.Error(f.Message)
	}
}
