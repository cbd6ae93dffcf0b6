package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/internal/proctest"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// served is a client of a service in this process.
func served(t testing.TB, limits protocol.Limits) *Client {
	t.Helper()
	service, err := server.New(server.Config{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	address := listen(t, func(s *grpc.Server) {
		if err := service.Register(s); err != nil {
			t.Fatal(err)
		}
	}, service.ServerOptions()...)
	c, err := Attach(context.Background(), AttachConfig{Address: address, Insecure: true, BatchBytes: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	checked(t, c)
	return c
}

// clients runs a test on a service in this process and on a plugin.
func clients(t *testing.T, test func(*testing.T, *Client)) {
	t.Run("served", func(t *testing.T) { test(t, served(t, protocol.Limits{})) })
	t.Run("launched", func(t *testing.T) {
		c := launch(t, Config{BatchBytes: 1 << 10})
		checked(t, c)
		test(t, c)
	})
}

// A chain is samples of variables each of which follows the one before.
func chain(mem memory.Allocator, samples, variables int) arrow.Record {
	fields := make([]arrow.Field, variables)
	for j := range fields {
		fields[j] = arrow.Field{Name: fmt.Sprintf("x%d", j), Type: arrow.PrimitiveTypes.Float64}
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range samples {
		v, state := 0.0, uint32(i)*2654435761+12345
		for j := range fields {
			state = state*1664525 + 1013904223
			v = 0.7*v + float64(state>>8)/(1<<24) - 0.5
			b.Field(j).(*array.Float64Builder).Append(v)
		}
	}
	return b.NewRecord()
}

// tableOf is a reader of chain.
func tableOf(t testing.TB, samples, variables int) array.RecordReader {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	record := chain(mem, samples, variables)
	defer record.Release()
	r, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	return r
}

// An edge is a row of a table of edges.
type edge struct {
	Source string  `json:"source"`
	Target string  `json:"target"`
	Score  float64 `json:"score"`
}

// edges reads a table of edges to its end.
func edges(r array.RecordReader, err error) ([]edge, error) {
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var list []edge
	for r.Next() {
		source, target := r.Record().Column(0).(*array.String), r.Record().Column(1).(*array.String)
		score := r.Record().Column(2).(*array.Float64)
		for i := range source.Len() {
			list = append(list, edge{source.Value(i), target.Value(i), score.Value(i)})
		}
	}
	return list, r.Err()
}

var bcd = job.Job{Solvers: []string{"bcd"}, Penalty: "0.1", Gap: 1e-9, Edges: job.EdgesAll}

func TestRecover(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		j := bcd
		j.Solvers = []string{"bcd", "glad"}
		run, err := c.Recover(t.Context(), j, tableOf(t, 60, 5))
		if err != nil {
			t.Fatal(err)
		}
		var last protocol.Event
		for e, err := range run.Progress(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			last = e
		}
		if last.State != protocol.StateDone || last.Run != run.ID() {
			t.Errorf("last event %+v", last)
		}
		first, err := edges(run.Edges(t.Context(), ""))
		if err != nil || len(first) != 10 || !slices.IsSortedFunc(first, func(a, b edge) int { return -int(1e9 * (a.Score - b.Score)) }) {
			t.Errorf("edges %v, %v", first, err)
		}
		named, err := edges(run.Edges(t.Context(), "bcd"))
		if err != nil || !slices.Equal(first, named) {
			t.Errorf("edges of bcd %v, %v, not those of the first solver", named, err)
		}
		atOnce, err := edges(c.Exchange(t.Context(), bcd, tableOf(t, 60, 5)))
		if err != nil || !slices.Equal(first, atOnce) {
			t.Errorf("edges of Exchange %v, %v, want %v", atOnce, err, first)
		}
		p, err := run.Precision(t.Context(), "glad")
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := drain(p); err != nil || rows < 5 {
			t.Errorf("%d rows of the precision matrix, %v", rows, err)
		}
		if _, err := run.Metrics(t.Context(), "bcd"); status.Code(err) != codes.NotFound {
			t.Errorf("metrics without a reference: error %v", err)
		}
		result, err := run.Result(t.Context())
		if err != nil || len(result.Solvers) != 2 || result.Input.Samples != 60 || len(result.Variables) != 5 {
			t.Errorf("%+v, %v", result, err)
		}
		runs, err := c.Runs(t.Context())
		if err != nil || !slices.ContainsFunc(runs, func(r protocol.RunInfo) bool {
			return r.Run == run.ID() && r.State == protocol.StateDone && len(r.Finished) == 2
		}) {
			t.Errorf("runs %+v, %v", runs, err)
		}
		if err := run.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Edges(t.Context(), "bcd"); status.Code(err) != codes.NotFound {
			t.Errorf("edges of a run that was forgotten: error %v", err)
		}
	})
}

func TestRecoverFile(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		path := filepath.Join(t.TempDir(), "table.csv")
		if err := os.WriteFile(path, []byte("a,b\n1,2\n2,3.5\n3,3\n4,6\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		j := bcd
		j.Input = path
		run, err := c.Recover(t.Context(), j, nil)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := edges(run.Edges(t.Context(), "")); err != nil || len(list) != 1 {
			t.Errorf("edges %v, %v", list, err)
		}
	})
}

func TestInformation(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		if d, err := c.Describe(t.Context()); err != nil || d.Version != job.Version() || d.Protocol != protocol.Version || d.Limits.MessageBytes == 0 {
			t.Errorf("%+v, %v", d, err)
		}
		schema, err := c.Schema(t.Context())
		if want, _ := recovery.Schema(); err != nil || len(schema) == 0 || len(want) == 0 {
			t.Errorf("schema %s, %v", schema, err)
		}
		if s, err := c.Solvers(t.Context()); err != nil || !reflect.DeepEqual(s, recovery.Solvers()) {
			t.Errorf("solvers %+v, %v", s, err)
		}
		if m, err := c.Models(t.Context()); err != nil || len(m) == 0 || m[0].Name == "" {
			t.Errorf("models %+v, %v", m, err)
		}
		j, err := c.Validate(t.Context(), job.Job{Input: "-", Penalty: "0.25", TimeLimit: job.Duration(time.Minute)})
		want := recovery.Resolved(job.Job{Input: "-", Penalty: "0.25", TimeLimit: job.Duration(time.Minute)})
		if err != nil || !reflect.DeepEqual(j, want) {
			t.Errorf("job %+v, %v, want %+v", j, err, want)
		}
		_, err = c.Validate(t.Context(), job.Job{Input: "-", Gap: -1})
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Field != "gap" || status.Code(err) != codes.InvalidArgument {
			t.Errorf("a negative gap: error %#v", err)
		}
	})
}

// Errors name what is wrong, through every way in.
func TestFaults(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		j := bcd
		j.Gap = -1
		_, err := c.Recover(t.Context(), j, tableOf(t, 60, 5))
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Field != "gap" {
			t.Errorf("Recover: error %#v", err)
		}
		_, err = c.Exchange(t.Context(), j, tableOf(t, 60, 5))
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Field != "gap" {
			t.Errorf("Exchange: error %#v", err)
		}
		_, err = c.Recover(t.Context(), bcd, tableOf(t, 1, 5))
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Reason != protocol.ReasonInvalidTable {
			t.Errorf("a table of one sample: error %#v", err)
		}
		_, err = c.Recover(t.Context(), bcd, tableOf(t, 0, 5))
		if f := new(protocol.Fault); !errors.As(err, &f) || f.Reason != protocol.ReasonInvalidTable {
			t.Errorf("an empty table: error %#v", err)
		}
	})
}

// What is echoed is what was sent, of whatever shape.
func TestEcho(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		defer mem.AssertSize(t, 0)
		for name, record := range map[string]arrow.Record{
			"columns": chain(mem, 500, 7), "rows": rowsOf(mem, 500, 7), "5000 columns": wide(mem, 4, 5000),
		} {
			in, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.Echo(t.Context(), in)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			i, wrong := 0, 0
			for out.Next() {
				list := out.Record().Column(0).(*array.FixedSizeList)
				values := list.ListValues().(*array.Float64)
				d := values.Len() / list.Len()
				for row := range list.Len() {
					for j := range d {
						if values.Value(row*d+j) != at(record, i, j) {
							wrong++
						}
					}
					i++
				}
			}
			if err := out.Err(); err != nil || i != int(record.NumRows()) || wrong > 0 {
				t.Errorf("%s: %d of %d rows, %d values wrong, %v", name, i, record.NumRows(), wrong, err)
			}
			out.Release()
			in.Release()
			record.Release()
		}
	})
}

func at(r arrow.Record, i, j int) float64 {
	if list, ok := r.Column(0).(*array.FixedSizeList); ok {
		values := list.ListValues().(*array.Float64)
		return values.Value(i*(values.Len()/list.Len()) + j)
	}
	return r.Column(j).(*array.Float64).Value(i)
}

// slow is a job that is at work for minutes.
var slow = job.Job{Solvers: []string{"gista"}, Penalty: "0.001", Gap: 1e-300, IterationLimit: 1 << 40}

// waitFor waits until a run has a state.
func waitFor(t *testing.T, c *Client, id string, state protocol.State) {
	t.Helper()
	var last []protocol.RunInfo
	for range 500 {
		runs, err := c.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last = runs
		for _, r := range runs {
			if r.Run == id && r.State == state {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("run %s is not %s: %+v", id, state, last)
}

func TestCancel(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		byContext, err := c.Recover(ctx, slow, tableOf(t, 40, 60))
		if err != nil {
			t.Fatal(err)
		}
		byCall, err := c.Recover(t.Context(), slow, tableOf(t, 40, 60))
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, c, byContext.ID(), protocol.StateRunning)
		cancel()
		waitFor(t, c, byContext.ID(), protocol.StateCancelled)
		waitFor(t, c, byCall.ID(), protocol.StateRunning)
		if err := byCall.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		waitFor(t, c, byCall.ID(), protocol.StateCancelled)
	})
}

// Close in the middle of a run leaves no process, and nobody waiting.
func TestCloseInRun(t *testing.T) {
	c := launch(t, Config{})
	run, err := c.Recover(t.Context(), slow, tableOf(t, 40, 60))
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error)
	go func() {
		_, err := edges(run.Edges(t.Context(), ""))
		over <- err
	}()
	waitFor(t, c, run.ID(), protocol.StateRunning)
	c.Close()
	if err := <-over; !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	proctest.Ends(t, c.PID(), 3*time.Second)
}

// A client is for many goroutines.
func TestConcurrent(t *testing.T) {
	clients(t, func(t *testing.T, c *Client) {
		want, err := edges(c.Exchange(t.Context(), bcd, tableOf(t, 60, 5)))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 20 {
			in := tableOf(t, 60, 5)
			wg.Go(func() {
				var got []edge
				var err error
				if i%2 == 0 {
					got, err = edges(c.Exchange(t.Context(), bcd, in))
				} else if run, failed := c.Recover(t.Context(), bcd, in); failed != nil {
					err = failed
				} else {
					got, err = edges(run.Edges(t.Context(), "bcd"))
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%d: %v, %v", i, got, err)
				}
			})
		}
		wg.Wait()
	})
}
