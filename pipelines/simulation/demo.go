package simulation

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

// The network of the demonstration: of the size of a pathway, sparse and with
// hubs as gene networks are, with a few times more samples than variables.
const (
	demoVariables = 60
	demoSamples   = 300
	demoLinks     = 2
	demoSeed      = 60
	demoSmallest  = 0.3 // eigenvalue of Θ
)

// Demo simulates a small network like one of genes, writes its samples and the
// network itself into a folder, and returns the job that recovers it by the
// solvers named, scores them and leaves a page, report.html.
func Demo(ctx context.Context, folder string, solvers []string) (job.Job, error) {
	out, err := output.OpenFolder("out", folder)
	if err != nil {
		return job.Job{}, err
	}
	defer out.Close()
	rng := rand.New(rand.NewPCG(demoSeed, 0))
	graph := simulate.ScaleFree(rng, demoVariables, demoLinks)
	theta, err := simulate.Precision(graph.Weights(rng, simulate.SignedUniform(0.5, 0.9)), demoSmallest)
	if err != nil {
		return job.Job{}, err
	}
	if theta, err = simulate.Standardize(theta); err != nil {
		return job.Job{}, err
	}
	rows, err := simulate.Samples(ctx, rng, theta, demoSamples)
	if err != nil {
		return job.Job{}, job.InterruptedOr(ctx, err)
	}
	names := make([]string, demoVariables)
	for i := range names {
		names[i] = fmt.Sprintf("gene%02d", i+1)
	}
	const input, reference = "samples.parquet", "reference.csv"
	if err := writeSamples(out.Root(), input, names, rows); err != nil {
		return job.Job{}, err
	}
	if _, err := writeReference(out.Root(), reference, names, theta); err != nil {
		return job.Job{}, err
	}
	return job.Job{
		Input:      out.Path(input),
		IDColumn:   "sample",
		Solvers:    solvers,
		Reference:  out.Path(reference),
		Undirected: true,
		Out:        folder,
	}, nil
}

// writeSamples writes a table with a column of sample names and one for every
// variable, on the scale of logarithms of expression.
func writeSamples(folder *os.Root, file string, names []string, rows []float64) error {
	d := len(names)
	m := len(rows) / d
	ids := make([]string, m)
	for i := range ids {
		ids[i] = fmt.Sprintf("sample%03d", i+1)
	}
	columns := []arrowio.Column{{Name: "sample", Values: ids}}
	for j, name := range names {
		values := make([]float64, m)
		for i := range values {
			const decimals = 1e4
			values[i] = math.Round((8+rows[i*d+j])*decimals) / decimals
		}
		columns = append(columns, arrowio.Column{Name: name, Values: values})
	}
	_, err := arrowio.TableFormats().For(arrowio.Parquet).Write(folder, file, columns, nil)
	return err
}

// writeReference lists every pair with its label.
func writeReference(folder *os.Root, file string, names []string, theta *dense.Sym) (arrowio.Written, error) {
	return arrowio.ReplaceFileIn(folder, file, func(w io.Writer) error {
		if _, err := fmt.Fprintln(w, "source,target,label"); err != nil {
			return err
		}
		for i, name := range names {
			for j := i + 1; j < len(names); j++ {
				label := 0
				if theta.At(i, j) != 0 {
					label = 1
				}
				if _, err := fmt.Fprintf(w, "%s,%s,%d\n", name, names[j], label); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
