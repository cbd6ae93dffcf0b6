package recovery

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// mostReserved is a budget that notes the most that was taken of it.
type mostReserved struct {
	*memory.Budget
	most int64
}

func (m *mostReserved) Reserve(bytes int64) error {
	err := m.Budget.Reserve(bytes)
	m.most = max(m.most, m.Taken())
	return err
}

// connected writes samples of d variables, each of which follows the one before.
func connected(t *testing.T, d, samples int) string {
	t.Helper()
	return chained(t, d, samples, func(int) (follows, own float64) { return 0.6, 0.8 })
}

// chained writes samples of d variables, of which variable j > 0 is the sum of the one before
// and of noise of its own with these weights.
func chained(t *testing.T, d, samples int, weights func(j int) (follows, own float64)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples.arrows")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := make([]string, d)
	for i := range names {
		names[i] = "gene" + strconv.Itoa(i)
	}
	schema := arrowio.SampleSchema(names)
	w := ipc.NewWriter(f, ipc.WithSchema(schema))
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	for at := 0; at < samples; {
		n := min(samples-at, max(1, 1<<18/d))
		rows := make([]float64, n*d)
		for i := range rows {
			rows[i] = rng.NormFloat64()
			if i%d > 0 {
				follows, own := weights(i % d)
				rows[i] = follows*rows[i-1] + own*rows[i]
			}
		}
		if err := w.Write(arrowio.SampleRecord(schema, rows, n)); err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// reserved is the most that a job reserves.
func reserved(t *testing.T, j job.Job, h Host) int64 {
	t.Helper()
	m := &mostReserved{Budget: memory.NewBudget(0)}
	h.Memory = m
	if _, err := Run(t.Context(), j, h); err != nil {
		t.Fatal(err)
	}
	if m.Taken() != 0 {
		t.Errorf("%d bytes are reserved after the end", m.Taken())
	}
	return m.most
}

// refused runs a job that must be refused for want of memory.
func refused(t *testing.T, j job.Job, h Host, limit int64) *memory.Error {
	t.Helper()
	b := memory.NewBudget(limit)
	h.Memory = b
	_, err := Run(t.Context(), j, h)
	var room *memory.Error
	if !errors.As(err, &room) {
		t.Fatalf("with %d bytes: %v", limit, err)
	}
	if b.Taken() != 0 {
		t.Errorf("%d bytes are reserved after the refusal", b.Taken())
	}
	return room
}

// A run that fits to the byte goes well, and one that lacks a byte is refused before
// anything is written.
func TestMemoryAtTheEdge(t *testing.T) {
	for _, j := range []job.Job{
		{Solvers: SelfSufficient(), Penalty: "0.3"},
		{Solvers: []string{"bcd"}, Penalty: ebic},
		{Solvers: []string{"glad"}, Edges: "all", Precision: job.PrecisionDense, Units: job.UnitsOriginal},
		{Solvers: []string{"bcd"}, Penalty: "0.3", Correlation: "spearman", Edges: "top:3"},
	} {
		j.Input, j.IDColumn, j.Out = testtable.CSV(t, 6, 40), "id", filepath.Join(t.TempDir(), "out")
		needs := reserved(t, j, Host{})
		if err := os.RemoveAll(j.Out); err != nil {
			t.Fatal(err)
		}
		room := refused(t, j, Host{}, memory.Process+needs-1)
		if !room.Never() || room.Needs > needs || room.What == "" {
			t.Errorf("%v: %+v", j.Solvers, room)
		}
		if _, err := os.Stat(j.Out); err == nil {
			t.Errorf("%v: the folder was made", j.Solvers)
		}
		if _, err := Run(t.Context(), j, Host{Memory: memory.NewBudget(memory.Process + needs)}); err != nil {
			t.Errorf("%v: %v", j.Solvers, err)
		}
	}
}

// What others have counts, and is said.
func TestMemoryOfOthers(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 6, 40), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: "0.3"}
	needs := reserved(t, j, Host{})
	b := memory.NewBudget(memory.Process + 2*needs)
	if err := b.Reserve(needs + 1); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), j, Host{Memory: b})
	var room *memory.Error
	if !errors.As(err, &room) || room.Never() || room.Taken != needs+1 || !strings.Contains(err.Error(), "try again") {
		t.Fatalf("%v", err)
	}
	b.Release(1)
	if _, err := Run(t.Context(), j, Host{Memory: b}); err != nil {
		t.Error(err)
	}
	if b.Taken() != needs {
		t.Errorf("%d bytes are taken, and others have %d", b.Taken(), needs)
	}
}

// Samples that are kept are reserved at once where the file says how many there are,
// and as they come otherwise: in both cases the refusal comes before they are there.
func TestMemoryOfKeptSamples(t *testing.T) {
	const d, samples = 4, 200_000
	rows := make([]float64, d*samples)
	for i := range rows {
		rows[i] = math.Sin(float64(i) * float64(i%d+1))
	}
	columns := make([]arrowio.Column, d)
	for c := range columns {
		values := make([]float64, samples)
		for i := range values {
			values[i] = rows[i*d+c]
		}
		columns[c] = arrowio.Column{Name: string(rune('a' + c)), Values: values}
	}
	for _, format := range []string{"parquet", "arrow"} {
		path := filepath.Join(t.TempDir(), "samples."+format)
		if err := arrowio.WriteTable(path, format, columns, nil); err != nil {
			t.Fatal(err)
		}
		for _, correlation := range []string{"spearman", "nonparanormal"} {
			j := job.Job{Input: path, Solvers: []string{"bcd"}, Penalty: "0.3", Correlation: correlation}
			needs := reserved(t, j, Host{})
			if needs < 8*d*samples {
				t.Errorf("%s, %s: %d bytes are reserved for samples of %d", format, correlation, needs, 8*d*samples)
			}
			room := refused(t, j, Host{}, memory.Process+needs/2)
			if known := format == "parquet"; !strings.Contains(room.What, "samples") || known != (room.Needs >= needs) || room.Needs > needs {
				t.Errorf("%s, %s: %+v, and %d in all", format, correlation, room, needs)
			}
			j.Correlation = "pearson"
			if most := reserved(t, j, Host{}); most > needs-8*d*samples {
				t.Errorf("%s: %d bytes are reserved for pearson, %d for %s", format, most, needs, correlation)
			}
		}
	}
}

// Columns that are samples are read as a whole, and a matrix too.
func TestMemoryOfWholeTables(t *testing.T) {
	const variables, samples = 30, 20_000
	var b strings.Builder
	b.WriteString("name")
	for i := range samples {
		b.WriteString("\ts" + strings.Repeat("i", i%3+1) + string(rune('a'+i%26)))
	}
	for v := range variables {
		b.WriteString("\nv" + strings.Repeat("x", v))
		for i := range samples {
			b.WriteString("\t" + string(rune('0'+(i*(v+7)+i/7)%10)))
		}
	}
	j := job.Job{Input: job.Stdin, InputFormat: "tsv", Orientation: "columns", Solvers: []string{"bcd"}, Penalty: "0.3"}
	host := func() Host { return Host{Files: table.Files{Stdin: strings.NewReader(b.String())}} }
	needs := reserved(t, j, host())
	if needs < ownBytes+8*variables*samples {
		t.Errorf("%d bytes are reserved for a table of %d", needs, 8*variables*samples)
	}
	if room := refused(t, j, host(), memory.Process+ownBytes+4*variables*samples); !room.Growing || !strings.Contains(room.Error(), "at least") {
		t.Errorf("%+v", room)
	}
}

// Memory is given back whatever the end: here of the host's code, which panics, and of
// the context while a kernel is at work.
func TestMemoryIsGivenBack(t *testing.T) {
	b := memory.NewBudget(0)
	j := job.Job{Input: testtable.CSV(t, 6, 40), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: "0.3"}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_, _ = Run(t.Context(), j, Host{Memory: b, Progress: func(u progress.Update) {
			if u.Stage == progress.Solving {
				panic("the host's")
			}
		}})
	}()
	if b.Taken() != 0 {
		t.Errorf("%d bytes are reserved after a panic", b.Taken())
	}
	j.Input = "missing.csv"
	if _, err := Run(t.Context(), j, Host{Memory: b}); err == nil || b.Taken() != 0 {
		t.Errorf("%v, and %d bytes are reserved", err, b.Taken())
	}

	j = job.Job{Input: connected(t, 400, 100), Engine: "gonum", Solvers: []string{"admm"}, Penalty: "0.01"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	most := int64(0)
	_, err := Run(ctx, j, Host{Memory: b, Progress: func(u progress.Update) {
		if most = max(most, b.Taken()); u.Stage == progress.Solving && !u.Done {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || most < 17*matrix(400) {
		t.Fatalf("%v, and %d bytes were reserved", err, most)
	}
	for start := time.Now(); b.Taken() != 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%d bytes are reserved after the cancellation", b.Taken())
		}
	}
}

// A reader that goes on after the end of its run gets nothing.
func TestMemoryAfterTheRun(t *testing.T) {
	b := memory.NewBudget(0)
	m := reservation{from: b}
	var none dense.Background
	if err := m.hold(10); err != nil || b.Taken() != ownBytes+10 {
		t.Fatalf("%v, and %d bytes are reserved", err, b.Taken())
	}
	m.release(&none)
	if m.hold(10) == nil || m.keep(10) == nil || b.Taken() != 0 {
		t.Errorf("%d bytes are reserved after the end", b.Taken())
	}
}

// What was reserved for tables that the host keeps is the host's.
func TestMemoryOfTables(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 6, 40), IDColumn: "id", Solvers: []string{"bcd", "glad"}, Penalty: "0.3"}
	for _, j.Edges = range []string{"", "all", "top:4"} {
		for _, j.Precision = range []string{"", job.PrecisionDense} {
			b := memory.NewBudget(0)
			var kept int64
			_, err := Run(t.Context(), j, Host{Memory: b, Solved: func(n Network) error {
				var bytes int64
				for name, table := range n.Tables {
					record, err := arrowio.NewRecord(table.Columns, nil)
					if err != nil || name == TableMetrics {
						t.Error(name, err)
					}
					for _, c := range record.Columns() {
						for _, buffer := range c.Data().Buffers() {
							if buffer != nil {
								bytes += int64(buffer.Len())
							}
						}
					}
				}
				if n.Reserved < bytes-1000 || n.Reserved > 2*bytes+1000 { // offsets have an entry more
					t.Errorf("edges %s, precision %s: %d bytes are reserved for tables of %d", j.Edges, j.Precision, n.Reserved, bytes)
				}
				kept += n.Reserved
				return nil
			}})
			if err != nil || kept == 0 || b.Taken() != kept {
				t.Errorf("%v: %d bytes are taken, and the host has %d", err, b.Taken(), kept)
			}
		}
	}
}

// Every solver and rule says what it takes.
func TestEveryMemory(t *testing.T) {
	r := newRun(job.Job{Solvers: SelfSufficient()}, Host{})
	if err := r.openModel(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range solvers() {
		least := 5 * matrix(1000)
		if s.Ranking {
			least = 2 * matrix(1000) // scores and signs
		}
		if n := s.memory(r.configuration(glasso.Penalty{}, nil), 1000); n < least || n > 50*matrix(1000) {
			t.Errorf("%s takes %d bytes", s.Name, n)
		}
	}
	for _, p := range penaltyRules() {
		if n := p.memory(r.configuration(glasso.Penalty{}, nil), 1000); n < 5*matrix(1000) {
			t.Errorf("%s takes %d bytes", p.Name, n)
		}
	}
}
