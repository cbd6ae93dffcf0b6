package pipelines

import (
	"errors"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A Table is columns with the metadata of their schema.
type Table struct {
	Columns  []arrowio.Column
	Metadata map[string]string
}

// A Network is what one solver has found, as tables: those that a run writes,
// for a host that takes them from memory.
type Network struct {
	Result SolverResult
	// Edges is the list of edges that Job.Edges asks for, highest score first:
	// arrowio.EdgeColumns.
	Edges Table
	// Precision is the matrix that Job.Precision asks for:
	// arrowio.Precision's Columns.
	Precision Table
	// Metrics is the solver's row of the metrics; without columns where the
	// job has no reference.
	Metrics Table
}

// deliver writes what a solver has found, and hands it to the host.
func (r *recovery) deliver(est *solver.Estimate, res *SolverResult) error {
	if r.job.Out == "" && r.host.Solved == nil {
		return nil
	}
	theta, z, err := r.inUnits(est)
	if err != nil {
		return err
	}
	edges, edgesMeta := r.edges(est, theta), r.solverMetadata(res)
	edgesMeta["gladflow.edges"] = r.job.Edges
	precision, precisionMeta := arrowio.Precision{Names: r.input.names, Values: z}, r.precisionMetadata(res)
	if r.job.Precision == PrecisionDense {
		precision.Values, precision.Dense = theta, true
	}
	if res.Files, err = r.write(res, edges, edgesMeta, precision, precisionMeta); err != nil || r.host.Solved == nil {
		return err
	}
	return r.host.Solved(Network{
		*res, Table{arrowio.EdgeColumns(edges), edgesMeta}, Table{precision.Columns(), precisionMeta}, r.metricsTable([]SolverResult{*res}),
	})
}

// inUnits returns Θ and Z in the units that the job asks for.
func (r *recovery) inUnits(est *solver.Estimate) (theta, z *dense.Sym, err error) {
	if r.job.Units != UnitsOriginal || !r.standardised() {
		return est.Precision, est.Support, nil
	}
	theta = r.original(est.Precision)
	z = theta
	if est.Support != est.Precision {
		z = r.original(est.Support)
	}
	if !theta.Finite() || !z.Finite() {
		return nil, nil, errors.New("the precision matrix in original units is beyond the range of float64; leave units at standardised")
	}
	return theta, z, nil
}

// original is Θij/(σi·σj).
func (r *recovery) original(a *dense.Sym) *dense.Sym {
	sd := r.result.StandardDeviations
	b := dense.NewSym(a.Len(), nil)
	for i := range a.Len() {
		to := b.Row(i)
		for j, v := range a.Row(i) {
			// The smaller index first, lest rounding break the symmetry.
			lo, hi := min(i, j), max(i, j)
			to[j] = v / sd[lo] / sd[hi]
		}
	}
	return b
}
