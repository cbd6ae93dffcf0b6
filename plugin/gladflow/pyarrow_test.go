package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/plugin/internal/built"
)

// serving starts "gladflow serve" on a free port and returns its address.
func serving(t *testing.T) string {
	return "grpc://" + startService(t, built.Binary(t)).conn.Target()
}

// python3 is a Python with pyarrow and pandas, or skips the test.
func python3(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if exec.Command("python3", "-c", "import pyarrow.flight, pandas").Run() != nil {
		t.Skip("python3 with pyarrow and pandas is not installed")
	}
	return exec.Command("python3", args...)
}

// expressionParquet is the samples of this package's tests without their ids.
func expressionParquet(t *testing.T) string {
	t.Helper()
	s, err := arrowio.OpenSamples(context.Background(), file(t, "table.csv", expression()), arrowio.SampleOptions{IDColumn: "id"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, n, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	var columns []arrowio.Column
	for j, name := range s.Names() {
		values := make([]float64, n)
		for i := range values {
			values[i] = rows[i*len(s.Names())+j]
		}
		columns = append(columns, arrowio.Column{Name: name, Values: values})
	}
	path := filepath.Join(t.TempDir(), "expression.parquet")
	if err := arrowio.WriteTable(path, arrowio.Parquet, columns, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// Python with pyarrow.flight alone does all that a caller does, and the edges
// it gets are those that the command line writes.
func TestPyarrowFlight(t *testing.T) {
	table, out := expressionParquet(t), t.TempDir()
	script := python3(t, "testdata/flight.py", serving(t), table, filepath.Join(out, "bcd.edges.parquet"))
	if code, _, stderr := gladflow(t, "recover", table, "--solvers", "bcd", "--penalty", "0.2", "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	if text, err := script.CombinedOutput(); err != nil || string(text) != "ok\n" {
		t.Errorf("%v\n%s", err, text)
	}
}

// The lines for Python in the documents run as they stand, but for the address: the block
// that connects, and those that follow in its chapter.
func TestPyarrowDocuments(t *testing.T) {
	python3(t) // skips before anything is built
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```")
	const there = "grpc://127.0.0.1:8815"
	for _, name := range []string{"README.md", filepath.Join("docs", "python.md")} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		chapter, _, _ := strings.Cut(string(text), "\n## Without a service")
		var lines strings.Builder
		for _, block := range blocks.FindAllStringSubmatch(chapter, -1) {
			if lines.Len() > 0 || strings.Contains(block[1], "flight.connect") {
				lines.WriteString(block[1])
			}
		}
		if !strings.Contains(lines.String(), there) {
			t.Fatalf("no Python block of %s connects to %s", name, there)
		}
		c := python3(t, "-c", strings.Replace(lines.String(), there, serving(t), 1))
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "partial_correlation") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// A batch that is too large is refused in words that say how to cut it.
func TestPyarrowLargeBatch(t *testing.T) {
	python3(t) // skips before anything is built
	address := "grpc://" + startService(t, built.Binary(t), "--max-message-size", "1MiB").conn.Target()
	out, err := python3(t, "-c", `
import sys
import pyarrow as pa
from pyarrow import flight

samples = pa.table({f"v{i}": [float((i * 7 + j * j) % 101) for j in range(19000)] for i in range(8)})
writer, reader = flight.connect(sys.argv[1]).do_put(flight.FlightDescriptor.for_command('{"solvers": ["bcd"]}'), samples.schema)
try:
    writer.write_table(samples)
    writer.done_writing()
    while reader.read() is not None:
        pass
    writer.close()
except pa.ArrowException as e:
    print(type(e).__name__, e)
`, address).CombinedOutput()
	for _, want := range []string{"ArrowInvalid", "a message of 1.2 MiB is larger than the limit of 1.0 MiB", "write_table(table, max_chunksize=rows)"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v\n%s\nwant %q", err, out, want)
		}
	}
}
