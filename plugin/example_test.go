package plugin_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
)

// A host launches the plugin, streams a table that it has in memory, and prints
// the edges as they come.
func Example() {
	ctx := context.Background()
	client, err := plugin.Launch(ctx, plugin.Config{Path: "gladflow"}) // in $PATH
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	samples := expression()
	defer samples.Release()
	run, err := client.Recover(ctx, job.Job{Solvers: []string{"bcd"}, Penalty: "0.3"}, samples)
	if err != nil {
		log.Fatal(err)
	}
	edges, err := run.Edges(ctx, "bcd")
	if err != nil {
		log.Fatal(err)
	}
	defer edges.Release()
	for edges.Next() {
		source := edges.Record().Column(0).(*array.String)
		target := edges.Record().Column(1).(*array.String)
		score := edges.Record().Column(2).(*array.Float64)
		for i := range source.Len() {
			fmt.Printf("%s - %s  %.2f\n", source.Value(i), target.Value(i), score.Value(i))
		}
	}
	if err := edges.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// cro - cII  0.43
	// cI - cro  0.32
	// cI - cII  0.09
}

// expression is 200 samples of four genes, each but the last following the one
// before.
func expression() array.RecordReader {
	names := []string{"cI", "cro", "cII", "lacZ"}
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		level := 0.0
		for j := range names {
			if j == 3 {
				level = 0
			}
			level = level + rng.NormFloat64()
			b.Field(j).(*array.Float64Builder).Append(level)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		log.Fatal(err)
	}
	return reader
}
