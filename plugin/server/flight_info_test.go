package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/plugin/protocol"
)

func TestFlightInfo(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd","am"],"penalty":0.1,"edges":"all"}`, sampled(t, 6, 50))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	info, err := c.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{id}})
	if err != nil || len(info.Endpoint) != 2 || info.TotalRecords != 2*15 {
		t.Fatal(info, err)
	}
	var known protocol.RunInfo
	if err := json.Unmarshal(info.AppMetadata, &known); err != nil || known.State != protocol.StateDone || !slices.Equal(known.Finished, []string{"bcd", "am"}) || known.Bytes == 0 {
		t.Errorf("%v %+v", err, known)
	}
	// The tickets work, and the schema is that of what they give.
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range info.Endpoint {
		stream, err := c.DoGet(ctx, e.Ticket)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(stream)
		if err != nil || !slices.EqualFunc(got[0].Schema().Fields(), schema.Fields(), arrow.Field.Equal) {
			t.Errorf("%v: %v, want %v", err, got, schema)
		}
	}
	stream, err := c.ListFlights(ctx, &flight.Criteria{Expression: []byte(`{"run":"` + id + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		listed, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil || n == 0 && !proto.Equal(listed.FlightDescriptor, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{id, "edges"}}) {
			t.Fatal(listed, err)
		}
	}
	if n != 2 {
		t.Errorf("%d tables are listed, want edges and precision", n)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd"],"penalty":0.1}`, sampled(t, 6, 50))
	if err != nil {
		t.Fatal(err)
	}
	for ticket, code := range map[string]codes.Code{
		`{"run":"x"}`:                          codes.NotFound,
		`{"run":"` + id + `","solver":"glad"}`: codes.NotFound,
		`{"run":"` + id + `","table":"edge"}`:  codes.NotFound,
		`{"run":"` + id + `","tabel":"edges"}`: codes.InvalidArgument,
		`{"run":"` + id + `"} {}`:              codes.InvalidArgument,
		``:                                     codes.InvalidArgument,
		`[1]`:                                  codes.InvalidArgument,
		`{"run":"` + id + `","solver":"bcd","t":`: codes.InvalidArgument,
	} {
		stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte(ticket)})
		if err == nil {
			_, err = stream.Recv()
		}
		if f := protocol.FaultOf(err); f == nil || f.StatusCode() != code || f.Reason == "" {
			t.Errorf("%s: %+v, want %v", ticket, f, code)
		}
	}
	_, err = act(ctx, c, "descibe", "")
	if f := wantFault(t, err, codes.Unimplemented, protocol.ReasonInvalidCall, ""); !strings.Contains(f.Message, "did you mean describe?") {
		t.Error(f.Message)
	}
}

func TestWatch(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd","am"],"penalty":0.1}`, sampled(t, 6, 50))
	if err != nil {
		t.Fatal(err)
	}
	events, err := act(ctx, c, protocol.ActionWatch, `{"run":"`+id+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	var e protocol.Event
	for _, text := range events {
		e = protocol.Event{}
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		if e.Done {
			done = append(done, e.Stage+e.Solver)
		}
	}
	if want := []string{"reading", "solvingbcd", "solvingam"}; !slices.Equal(done, want) || e.State != protocol.StateDone || e.Stage != "" {
		t.Errorf("stages %q, want %q; last %+v", done, want, e)
	}
}

// columns is a table of plain numbers, as a data frame has them.
func columns(t *testing.T, names []string, rows [][]float64) arrow.Record {
	t.Helper()
	fields := make([]arrow.Field, len(names))
	for i, n := range names {
		fields[i] = arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Float64}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, r := range rows {
		for j, v := range r {
			b.Field(j).(*array.Float64Builder).Append(v)
		}
	}
	return b.NewRecord()
}

func TestFaultsOfTheTable(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	nan := columns(t, []string{"a", "b"}, [][]float64{{1, 2}, {2, 1}, {3, zero() / zero()}})
	_, err := put(ctx, t, c, `{}`, nan)
	if f := wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidTable, "input"); f.Column != "b" || f.Row != 3 || f.Run == "" {
		t.Errorf("%+v", f)
	}
	_, err = put(ctx, t, c, `{}`, columns(t, []string{"a", "b"}, [][]float64{{1, 2}, {1, 1}, {1, 4}}))
	if f := wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidTable, "input"); f.Column != "a" {
		t.Errorf("%+v", f)
	}
	_, err = put(ctx, t, c, `{}`, columns(t, []string{"a", "b"}, nil))
	if f := wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidTable, "input"); strings.Contains(f.Message, "--") {
		t.Errorf("the message speaks of flags: %s", f.Message)
	}
	for job, field := range map[string]string{
		`{"penalty":-1}`:                         "penalty",
		`{"solver":["bcd"]}`:                     "solver",
		`{"solvers":["bdc"]}`:                    "solvers",
		`{"input":"x.csv"}`:                      "input",
		`{"input_format":"csv"}`:                 "input_format",
		`{"reference":"-"}`:                      "reference",
		`{"solvers":["bcd"],"reference":"none"}`: "reference",
		`nonsense`:                               "",
	} {
		_, err := put(ctx, t, c, job, columns(t, []string{"a", "b"}, [][]float64{{1, 2}, {2, 1}, {3, 5}}))
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, field)
	}
}

func zero() float64 { return 0 }

// A covariance can be streamed, and the samples may be columns.
func TestOtherTables(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	s := columns(t, []string{"a", "b"}, [][]float64{{2, 0.5}, {0.5, 2}})
	if _, err := put(ctx, t, c, `{"input_kind":"covariance","samples":30,"correlation":"none","solvers":["bcd"],"penalty":0.1}`, s); err != nil {
		t.Error(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "gene", Type: arrow.BinaryTypes.String}, {Name: "s1", Type: arrow.PrimitiveTypes.Float32},
		{Name: "s2", Type: arrow.PrimitiveTypes.Float32}, {Name: "s3", Type: arrow.PrimitiveTypes.Float32},
	}, nil))
	defer b.Release()
	for i := range 4 {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprint("g", i))
		for j := 1; j < 4; j++ {
			b.Field(j).(*array.Float32Builder).Append(float32((i*i + 3*j*i + j*j) % 7))
		}
	}
	id, err := put(ctx, t, c, `{"orientation":"columns","solvers":["bcd"],"penalty":0.1,"edges":"all"}`, b.NewRecord())
	if err != nil {
		t.Fatal(err)
	}
	edges, err := get(ctx, c, protocol.Ticket{Run: id})
	if err != nil || edges[0].NumRows() != 6 {
		t.Error(edges, err)
	}
}

// A job that names a file runs without streaming, scores, and writes.
func TestRecoverAction(t *testing.T) {
	_, c := served(t, Config{Stores: store.All()})
	ctx := bg(t)
	folder := t.TempDir()
	input, reference, out := filepath.Join(folder, "s.csv"), filepath.Join(folder, "r.tsv"), filepath.Join(folder, "out")
	if err := os.WriteFile(input, []byte("a,b,c\n1,2,3\n2,1,5\n3,5,4\n4,4,9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(reference, []byte("a\tb\t1\na\tc\t0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	job := fmt.Sprintf(`{"input":%q,"reference":%q,"out":%q,"solvers":["bcd"],"penalty":0.1}`, input, reference, out)
	results, err := act(ctx, c, protocol.ActionRecover, job)
	if err != nil {
		t.Fatal(err)
	}
	var r protocol.Run
	if err := json.Unmarshal(results[0], &r); err != nil {
		t.Fatal(err)
	}
	metrics, err := get(ctx, c, protocol.Ticket{Run: r.Run, Table: protocol.TableMetrics})
	if err != nil || metrics[0].NumRows() != 1 {
		t.Fatal(metrics, err)
	}
	if _, err := act(ctx, c, protocol.ActionResult, string(results[0])); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bcd.edges.parquet", "run.json", "metrics.parquet"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	web := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer web.Close()
	results, err = act(ctx, c, protocol.ActionRecover, fmt.Sprintf(`{"input":%q,"solvers":["bcd"],"penalty":0.1}`, web.URL+"/s.csv?token=secret"))
	if err != nil {
		t.Fatal(err)
	}
	if results, err = act(ctx, c, protocol.ActionResult, string(results[0])); err != nil || strings.Contains(string(results[0]), "secret") {
		t.Errorf("of a URL: %v\n%s", err, results)
	}
	_, err = act(ctx, c, protocol.ActionRecover, `{}`)
	wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, "input")
}
