// Package experiment repeats the synthetic experiments of the paper that GLAD
// comes from (Shrivastava et al., "GLAD: Learning Sparse Graph Recovery", ICLR
// 2020), each as one call that ends in a table, a figure and a paragraph that sets
// our figure beside the paper's and explains the difference.
//
//	outcomes, err := experiment.Perform(ctx, experiment.Options{Name: "admm-grid", Quick: true}, nil)
//
// Everything random is derived from one seed. Training, validation and test graphs
// come from streams of their own, which the purpose and the setting name; the
// test graphs of one setting are the same in every experiment. Parameters are
// chosen on validation graphs and reported on test graphs.
package experiment

import (
	"context"
	"fmt"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/solver/dense"
)

// An Experiment is one figure or table of the paper.
type Experiment struct {
	// Name is that of the command.
	Name string
	// Title is a line.
	Title string
	// Claim is what the paper says, in a sentence or two; empty for an experiment that
	// it has not.
	Claim string
	// Reads is the key of the field of Options that names what it reads: network or
	// challenge; empty for one that simulates its data.
	Reads string
	// Run does it.
	Run func(context.Context, *Run) (*Report, error)
}

// All lists the experiments in the order of the document.
func All() []Experiment {
	return []Experiment{
		admmObjective(), admmGrid(), penaltySensitivity(), convergence(), runtimes(),
		recoveryProbability(), areaUnderCurve(), unrollLength(), unrolledADMM(),
		geneNMSE(), ecoliSubnetwork(), challenge(), generalModel(), correlationChoice(), penaltySelection(), missingValues(), calibration(), scaling(),
	}
}

// Names are those of All.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// A Run is what an experiment is given.
type Run struct {
	// Quick asks for fewer and smaller graphs and shorter training: seconds
	// instead of minutes, for a look at the experiment and not at its figures.
	Quick bool
	// Seed is that of everything random.
	Seed uint64
	// Network is the file of a known network, for experiments that read one.
	Network string
	// Challenge is the folder with the files of a challenge, for experiments that read one.
	Challenge string
	// Table is the file of a table of samples, which missing takes values from; empty for none.
	Table string
	// Sets is a folder or list of tables with known networks, which selection judges rules on too,
	// and Root what paths in a list are relative to: see benchmark.Sets. Empty for none.
	Sets, Root string
	// Part is what of the experiment general is performed.
	Part Part
	// Workers bounds the graphs that are worked on at a time. Default (0): as
	// many as Go uses processors.
	Workers int
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine

	progress func(text string, fraction float64)
	// memory keeps what several experiments need: tuned parameters and trained
	// models, by what they are for. Experiments run one after the other.
	memory map[string]any
}

// cached is what make returns, or what it returned before for the same key.
func cached[T any](r *Run, key string, make func() (T, error)) (T, error) {
	if v, ok := r.memory[key]; ok {
		return v.(T), nil
	}
	v, err := make()
	if err == nil && r.memory != nil {
		r.memory[key] = v
	}
	return v, err
}

// at tells how far the experiment is, from 0 to 1, and what comes next.
func (r *Run) at(fraction float64, format string, args ...any) {
	if r.progress != nil {
		r.progress(fmt.Sprintf(format, args...), fraction)
	}
}

// choose is a where the run is full, b where it is quick.
func choose[T any](r *Run, full, quick T) T {
	if r.Quick {
		return quick
	}
	return full
}

// A Report is what an experiment has found.
type Report struct {
	// Setting says in one line what was measured on what: family, sizes, number
	// of graphs.
	Setting string
	// Errors says what stands behind ±. Default: one standard error over test
	// graphs.
	Errors string
	// Columns are the table of all figures, of one length.
	Columns []arrowio.Column
	// Figure draws them.
	Figure report.Figure
	// Main are the main figures for people, the first row holding the titles.
	Main [][]string
	// Sections are more tables, after Main.
	Sections []Section
	// Paragraph sets our figures beside the paper's and explains the
	// difference.
	Paragraph string
}

// A Section is a table with its title, the first row holding those of the columns.
type Section struct {
	Title string
	Rows  [][]string
}

// An Outcome is a Report with where it comes from.
type Outcome struct {
	Experiment Experiment
	Report     *Report
	// Options are those it was made with.
	Options Options
	// Elapsed is how long the experiment took, Machine what it ran on.
	Elapsed time.Duration
	Machine string
	// Files are the names of what was written into Options.Out.
	Files []string
}
