// Package simulation draws networks with samples of them, as a job.Simulation
// says, and writes them into a folder: to try solvers on and to train with.
//
//	r, err := simulation.Run(ctx, job.Simulation{Family: "er", Out: "data"}, nil)
package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
)

// simulationFile is the name of the document that Run writes into its folder.
const simulationFile = "simulate.json"

// A Result is what was simulated: what simulate.json holds.
type Result struct {
	Version    string         `json:"version"`
	Simulation job.Simulation `json:"simulation"`
	// Family is the distribution with its defaults written out, Description
	// the same as a line.
	Family      simulate.Family `json:"family"`
	Description string          `json:"description"`
	Networks    []Network       `json:"networks"`
}

// A Network is one network and the names of its files.
type Network struct {
	Name string `json:"name"`
	// Samples, Precision and Reference are files in the folder: the table, the
	// true precision matrix as recover writes it, and every pair with its label.
	Samples   string `json:"samples"`
	Precision string `json:"precision"`
	Reference string `json:"reference"`
	// Files are these, and what describes them beside them, with their sizes and
	// checksums.
	Files []job.WrittenFile `json:"files"`
	// Edges counts the pairs that are joined, of Pairs.
	Edges int `json:"edges"`
	Pairs int `json:"pairs"`
	// The ends of the spectrum of the precision matrix.
	SmallestEigenvalue float64 `json:"smallest_eigenvalue"`
	LargestEigenvalue  float64 `json:"largest_eigenvalue"`
}

// Run draws networks and samples and writes them into the folder: NAME.parquet
// (the samples, a column for each variable), NAME.precision.parquet (Θ),
// NAME.reference.csv (source, target, label for every pair) and, at the end,
// simulate.json. Files carry in their metadata how they were made. The same
// simulation gives the same bytes on every machine of one architecture.
//
// tell, if not nil, is called with every update of the progress. What the user can put right is a
// *job.Error. When ctx ends first, the networks that are whole stay, without
// simulate.json.
func Run(ctx context.Context, s job.Simulation, tell func(progress.Update)) (*Result, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	r := run{Simulation: s.Resolved()}
	var err error
	if r.family, err = FamilyOf(s); err != nil {
		return nil, err
	}
	if r.folder, err = output.OpenFolder("out", r.Out); err != nil {
		return nil, err
	}
	defer r.folder.Close()
	result := &Result{
		Version:     job.Version(),
		Simulation:  r.Simulation,
		Family:      r.family.Resolved(),
		Description: r.family.String(),
	}
	report := progress.Begin(tell, progress.Simulating, "")
	for k := range r.Graphs {
		network, err := r.network(ctx, k)
		if err != nil {
			return nil, job.InterruptedOr(ctx, err)
		}
		result.Networks = append(result.Networks, network)
		report.Report(float64(k+1)/float64(r.Graphs), network.Name)
	}
	if err := r.folder.WriteJSON(simulationFile, result); err != nil {
		return nil, err
	}
	report.Done(progress.Count(r.Graphs, "network") + " with " + progress.Count(r.Samples, "sample") + " each")
	return result, nil
}

// run is one run of a Simulation, which is resolved.
type run struct {
	job.Simulation
	family simulate.Family
	folder *output.Folder
}

// network draws and writes network k, from 0.
func (s run) network(ctx context.Context, k int) (Network, error) {
	// A stream for each network, so that the first ones stay what they are when
	// more are asked for.
	rng := rand.New(rand.NewPCG(uint64(s.Seed), uint64(k)))
	n := Network{Name: stem(s.Name, k, s.Graphs), Pairs: s.Dimension * (s.Dimension - 1) / 2}
	n.Samples = n.Name + "." + s.Format
	n.Precision = n.Name + ".precision." + s.Format
	n.Reference = n.Name + ".reference.csv"
	theta, err := dense.AwaitResult(ctx, func() (*dense.Sym, error) { return s.family.Precision(rng) })
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
	meta := s.metadata(k)
	files, err := arrowio.TableFormats().For(s.Format).Write(s.folder.Root(), n.Samples, sampleColumns(names, rows), meta)
	if err != nil {
		return n, err
	}
	n.Files = output.Listed(files)
	meta[output.MetaDirected] = "false"
	meta[output.MetaVariables] = output.JSON(names)
	meta[output.MetaMatrix] = "true (Theta)"
	meta[output.MetaUnits] = job.UnitsOriginal
	matrix := arrowio.Precision{Names: names, Values: theta}
	if files, err = arrowio.PrecisionFormats().For(s.Format).Write(s.folder.Root(), n.Precision, matrix, meta); err != nil {
		return n, err
	}
	n.Files = append(n.Files, output.Listed(files)...)
	reference, err := writeReference(s.folder.Root(), n.Reference, names, theta)
	if err != nil {
		return n, err
	}
	n.Files = append(n.Files, job.WrittenFile(reference))
	return n, nil
}

// stem is the name of the files of table k of count; numbers have the same width,
// so that names sort as they do.
func stem(name string, k, count int) string {
	if count == 1 {
		return name
	}
	return fmt.Sprintf("%s-%0*d", name, len(strconv.Itoa(count)), k+1)
}

// metadata says how a table was made: wherever the folder and however many other
// networks there are, the same bytes.
func (s run) metadata(k int) map[string]string {
	return map[string]string{
		output.MetaVersion: job.Version(),
		"gladflow.family":  output.JSON(s.family.Resolved()),
		output.MetaSeed:    strconv.Itoa(s.Seed),
		"gladflow.network": strconv.Itoa(k + 1),
		output.MetaSamples: strconv.Itoa(s.Samples),
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
