// Command host is an example of a Go program that uses gladflow as a plugin: it
// reads a CSV table with a header and labels in the first column, has its network
// recovered by a gladflow binary in $PATH, and prints the edges.
//
//	go run ./examples/host examples/data/expression.csv
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := host(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "host:", err)
		var wrong *protocol.Fault
		if errors.As(err, &wrong) && wrong.Column != "" {
			fmt.Fprintf(os.Stderr, "host: look at column %q, row %d\n", wrong.Column, wrong.Row)
		}
		os.Exit(1)
	}
}

func host(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: host TABLE.csv")
	}
	samples, err := read(args[0])
	if err != nil {
		return err
	}
	defer samples.Release()

	client, err := plugin.Launch(ctx, plugin.Config{Path: "gladflow"})
	if err != nil {
		return err
	}
	defer client.Close()
	run, err := client.Recover(ctx, job.Job{Solvers: []string{"bcd"}, Edges: "top:10"}, samples)
	if err != nil {
		return err
	}
	for event, err := range run.Progress(ctx) {
		if err != nil {
			return err
		}
		if event.Done {
			fmt.Fprintln(os.Stderr, event.Stage, event.Solver, event.Detail)
		}
	}
	edges, err := run.Edges(ctx, "bcd")
	if err != nil {
		return err
	}
	defer edges.Release()
	for edges.Next() {
		source := edges.Record().Column(0).(*array.String)
		target := edges.Record().Column(1).(*array.String)
		score := edges.Record().Column(2).(*array.Float64)
		for i := range int(edges.Record().NumRows()) {
			fmt.Printf("%s\t%s\t%.3f\n", source.Value(i), target.Value(i), score.Value(i))
		}
	}
	return edges.Err()
}

// read returns the table as one record with a column for each variable. A larger
// table would be a reader that makes a record of a few megabytes at a time.
func read(path string) (array.RecordReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	var fields []arrow.Field
	for _, name := range rows[0][1:] {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, row := range rows[1:] {
		for j, text := range row[1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("%s, %s, %s: %w", path, row[0], rows[0][j+1], err)
			}
			b.Field(j).(*array.Float64Builder).Append(v)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return array.NewRecordReader(record.Schema(), []arrow.Record{record})
}
