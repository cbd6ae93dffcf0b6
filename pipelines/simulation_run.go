package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

// Simulating is the stage of Simulate.
const Simulating Stage = "simulating"

// simulationFile is the name of the document that Simulate leaves in its folder.
const simulationFile = "simulate.json"

// A SimulationResult is what was simulated: what simulate.json holds.
type SimulationResult struct {
	Version    string     `json:"version"`
	Simulation Simulation `json:"simulation"`
	// Family is the distribution with its defaults written out, Description
	// the same as a line.
	Family      simulate.Family    `json:"family"`
	Description string             `json:"description"`
	Networks    []SimulatedNetwork `json:"networks"`
}

// A SimulatedNetwork is one network and the names of its files.
type SimulatedNetwork struct {
	Name string `json:"name"`
	// Samples, Precision and Reference are files in the folder: the table, the
	// true precision matrix as recover writes it, and every pair with its label.
	Samples   string `json:"samples"`
	Precision string `json:"precision"`
	Reference string `json:"reference"`
	// Edges counts the pairs that are joined, of Pairs.
	Edges int `json:"edges"`
	Pairs int `json:"pairs"`
	// The ends of the spectrum of the precision matrix.
	SmallestEigenvalue float64 `json:"smallest_eigenvalue"`
	LargestEigenvalue  float64 `json:"largest_eigenvalue"`
}

// Simulate draws networks and samples and writes them into the folder:
// NAME.parquet (the samples, a column for each variable), NAME.precision.parquet
// (Θ), NAME.reference.csv (source, target, label for every pair) and, at the end,
// simulate.json. Files carry in their metadata how they were made. The same
// simulation gives the same bytes on every machine of one architecture.
//
// Of host the progress is used. What the user can put right is a *JobError. When
// ctx ends first, the networks that are whole stay, without simulate.json.
func Simulate(ctx context.Context, s Simulation, host Host) (*SimulationResult, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	r := s.Resolved()
	f, err := r.family()
	if err != nil {
		return nil, err
	}
	if err := OpenFolder("out", r.Out); err != nil {
		return nil, err
	}
	result := &SimulationResult{
		Version:     Version,
		Simulation:  r,
		Family:      f.Resolved(),
		Description: f.String(),
	}
	report := host.stage(Simulating, "")
	for k := range r.Graphs {
		network, err := r.network(ctx, f, k)
		if err != nil {
			return nil, ended(ctx, err)
		}
		result.Networks = append(result.Networks, network)
		report.update(float64(k+1)/float64(r.Graphs), network.Name)
	}
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return nil, err
	}
	err = arrowio.ReplaceFile(filepath.Join(r.Out, simulationFile), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	if err != nil {
		return nil, err
	}
	report.done(plural(r.Graphs, "network") + " with " + plural(r.Samples, "sample") + " each")
	return result, nil
}

// OpenFolder makes the folder of a command's files and tries whether files can
// be written there. An error is a *JobError of the field that names the folder.
func OpenFolder(field, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return &JobError{Field: field, Reason: fmt.Sprintf("the folder cannot be made (%v); choose another", err), Err: err}
	}
	f, err := os.CreateTemp(folder, ".gladflow-*.tmp")
	if err != nil {
		return &JobError{Field: field, Reason: fmt.Sprintf("the folder cannot be written to (%v); choose another", err), Err: err}
	}
	f.Close()
	return os.Remove(f.Name())
}

// network draws and writes network k, from 0.
func (s Simulation) network(ctx context.Context, f simulate.Family, k int) (SimulatedNetwork, error) {
	// A stream for each network, so that the first ones stay what they are when
	// more are asked for.
	rng := rand.New(rand.NewPCG(uint64(s.Seed), uint64(k)))
	n := SimulatedNetwork{Name: s.stem(k), Pairs: s.Dimension * (s.Dimension - 1) / 2}
	n.Samples = n.Name + "." + s.Format
	n.Precision = n.Name + ".precision." + s.Format
	n.Reference = n.Name + ".reference.csv"
	theta, err := dense.AwaitResult(ctx, func() (*dense.Sym, error) { return f.Precision(rng) })
	if err != nil {
		return n, err
	}
	spectrum, err := dense.AwaitResult(ctx, func() ([]float64, error) { return eigenvalues(theta) })
	if err != nil {
		return n, err
	}
	n.SmallestEigenvalue, n.LargestEigenvalue = spectrum[0], spectrum[s.Dimension-1]
	rows, err := simulate.Samples(ctx, rng, theta, s.Samples)
	if err != nil {
		return n, err
	}
	for i := range s.Dimension {
		for _, v := range theta.Row(i)[i+1:] {
			if v != 0 {
				n.Edges++
			}
		}
	}
	names := variableNames(s.Dimension)
	meta := s.metadata(f, k)
	path := func(name string) string { return filepath.Join(s.Out, name) }
	if err := arrowio.WriteTable(path(n.Samples), s.Format, sampleColumns(names, rows), meta); err != nil {
		return n, err
	}
	meta[MetaDirected] = "false"
	meta[MetaVariables] = text(names)
	meta["gladflow.matrix"] = "true (Theta)"
	meta["gladflow.units"] = UnitsOriginal
	if err := arrowio.WritePrecision(path(n.Precision), s.Format, names, theta, meta); err != nil {
		return n, err
	}
	return n, writeReference(path(n.Reference), names, theta)
}

// stem is the name of the files of network k; numbers have the same width, so
// that names sort as they do.
func (s Simulation) stem(k int) string {
	if s.Graphs == 1 {
		return s.Name
	}
	return fmt.Sprintf("%s-%0*d", s.Name, len(strconv.Itoa(s.Graphs)), k+1)
}

// metadata says how a table was made: wherever the folder and however many other
// networks there are, the same bytes.
func (s Simulation) metadata(f simulate.Family, k int) map[string]string {
	return map[string]string{
		MetaVersion:        Version,
		"gladflow.family":  text(f.Resolved()),
		"gladflow.seed":    strconv.Itoa(s.Seed),
		"gladflow.network": strconv.Itoa(k + 1),
		"gladflow.samples": strconv.Itoa(s.Samples),
	}
}

// eigenvalues returns those of a in ascending order, from gonum: the same bits
// whatever library the machine has.
func eigenvalues(a *dense.Sym) ([]float64, error) {
	d := a.Len()
	values := make([]float64, d)
	err := dense.NewWorkspace(dense.Gonum{}, d).Eigen(a, values, make([]float64, d*d))
	return values, err
}

// variableNames are x01, x02, … of one width.
func variableNames(d int) []string {
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("x%0*d", len(strconv.Itoa(d)), i+1)
	}
	return names
}

// sampleColumns turns m×d row-major samples into columns.
func sampleColumns(names []string, rows []float64) []arrowio.Column {
	d := len(names)
	columns := make([]arrowio.Column, d)
	for j, name := range names {
		values := make([]float64, len(rows)/d)
		for i := range values {
			values[i] = rows[i*d+j]
		}
		columns[j] = arrowio.Column{Name: name, Values: values}
	}
	return columns
}
