package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin"
)

// A process of the test binary with these is the host of TestKillHost: the
// plugin's binary, and the folder for results.
const (
	hostVariable = "GLADFLOW_TEST_HOST"
	hostOut      = "GLADFLOW_TEST_OUT"
)

// beHost launches the plugin, prints its process id, and has it work until the
// process is killed.
func beHost() int {
	err := keepBusy(context.Background(), os.Getenv(hostVariable), os.Getenv(hostOut))
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// keepBusy returns only with an error.
func keepBusy(ctx context.Context, path, out string) error {
	c, err := plugin.Launch(ctx, plugin.Config{Path: path})
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println(c.PID())
	failed := make(chan error)
	go func() { failed <- writeForEver(ctx, c, out) }()
	go func() { failed <- exchangeForEver(ctx, c) }()
	go func() { failed <- echoForEver(ctx, c) }()
	return <-failed
}

// writeForEver has runs write files, over and over the same of four folders,
// and takes their edges.
func writeForEver(ctx context.Context, c *plugin.Client, out string) error {
	formats := []string{"parquet", "arrow", "csv"}
	for n := 0; ; n++ {
		j := job.Job{
			Solvers: []string{"bcd", "glad"}, Penalty: "0.3", Edges: job.EdgesAll, Precision: job.PrecisionDense,
			Out: filepath.Join(out, fmt.Sprint(n%4)), Format: formats[n%len(formats)],
		}
		samples := streamOf(120, 60, 1)
		run, err := c.Recover(ctx, j, samples)
		if err != nil {
			return err
		}
		edges, err := run.Edges(ctx, "glad")
		if err != nil {
			return err
		}
		if err := readOut(edges); err != nil {
			return err
		}
		if _, err := run.Result(ctx); err != nil {
			return err
		}
		if err := run.Forget(ctx); err != nil {
			return err
		}
	}
}

func exchangeForEver(ctx context.Context, c *plugin.Client) error {
	for {
		samples := streamOf(80, 60, 1)
		edges, err := c.Exchange(ctx, job.Job{Solvers: []string{"bcd"}, Penalty: "0.2"}, samples)
		if err != nil {
			return err
		}
		if err := readOut(edges); err != nil {
			return err
		}
	}
}

func echoForEver(ctx context.Context, c *plugin.Client) error {
	samples := streamOf(50, 1000, 1_000_000)
	back, err := c.Echo(ctx, samples)
	if err != nil {
		return err
	}
	return errors.Join(readOut(back), errors.New("the echo has an end"))
}

func readOut(r array.RecordReader) error {
	defer r.Release()
	for r.Next() {
	}
	if err := r.Err(); err != io.EOF {
		return err
	}
	return nil
}

// streamOf is a stream of batches of n samples of d variables, the same again
// and again.
func streamOf(d, n, batches int) array.RecordReader {
	var names []string
	for j := range d {
		names = append(names, fmt.Sprintf("v%d", j))
	}
	rows := make([]float64, n*d)
	for i := range rows {
		// Anything that is not constant and not collinear.
		rows[i] = float64((i*i*7919+i*104_729)%10_007) / 10_007
	}
	schema := arrowio.SampleSchema(names)
	return &repeated{schema: schema, record: arrowio.SampleRecord(schema, rows, n), left: batches}
}

// repeated is a reader of the same batch.
type repeated struct {
	schema *arrow.Schema
	record arrow.Record
	left   int
}

func (r *repeated) Retain()               {}
func (r *repeated) Release()              {}
func (r *repeated) Schema() *arrow.Schema { return r.schema }
func (r *repeated) Record() arrow.Record  { return r.record }
func (r *repeated) Err() error            { return nil }
func (r *repeated) Next() bool {
	r.left--
	return r.left >= 0
}
