package recovery

import (
	"errors"
	"math"
	"os"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// outputs lists the tables that a run makes of every solver's estimate. Each has a
// file of its own.
func outputs() []solverOutput {
	return []solverOutput{edgesOutput(), rankedOutput(), precisionOutput()}
}

// A solverOutput is a table of a solver's estimate.
type solverOutput struct {
	// name is that of the table, and stands in the name of its file.
	name string
	// of says whether a solver has it.
	of      func(*run, solverEntry) bool
	prepare func(*run, *solution) (preparedOutput, error)
}

// A preparedOutput is the table for hosts, and the file, of one solver.
type preparedOutput struct {
	table func() output.Table
	// format is the name of the file's format, and its extension.
	format string
	write  func(folder *os.Root, name string) ([]arrowio.Written, error)
}

// A solution is what a solver has found, in the units that the job asks for.
type solution struct {
	*solver.Estimate // nil for a ranking
	theta, z         *dense.Sym
	sparse           *solver.Sparse // in place of the two
	ranking          *ranking       // nil for an estimate
	sure             []pairColumn   // of the list of edges
	kept             func(i, j int) bool
	solver           solverEntry
	result           *job.SolverResult
}

// A Network is what one solver has found, as the tables that a run writes, for a
// host that takes them from memory.
type Network struct {
	Result job.SolverResult
	// Tables are by name: TableEdges and, where the solver has one, TablePrecision as
	// the job asks for them, and TableMetrics with the solver's row, if the job has a reference.
	Tables map[string]output.Table
	// Reserved is what the run has reserved of Host.Memory for a host that keeps
	// the tables, in bytes. It is the host's from now on: to keep, or to release.
	Reserved int64
}

// Names of tables.
const (
	TableEdges     = "edges"
	TablePrecision = "precision"
	TableMetrics   = "metrics"
)

// deliver writes what a solver has found, and hands it to the host, also where the
// writing fails: that ends with the first file that cannot be written.
func (r *run) deliver(entry solverEntry, found *finding, res *job.SolverResult) error {
	if r.folder == nil && r.host.Solved == nil {
		return nil
	}
	kept, err := r.admitTables(entry, found)
	if err != nil {
		return err
	}
	s := &solution{Estimate: found.estimate, ranking: found.ranking, sure: found.sure(), kept: found.kept, solver: entry, result: res}
	if est := found.estimate; est != nil {
		if s.theta, s.z, s.sparse, err = r.inUnits(est, entry); err != nil {
			return err
		}
	}
	n := Network{Tables: make(map[string]output.Table)}
	var failure error
	for _, o := range outputs() {
		if !o.of(r, entry) {
			continue
		}
		m, err := o.prepare(r, s)
		if err != nil {
			return err
		}
		if r.host.Solved != nil {
			n.Tables[o.name] = m.table()
		}
		if r.folder == nil || failure != nil {
			continue
		}
		file := res.Name + "." + o.name + "." + m.format
		var files []arrowio.Written
		if files, failure = m.write(r.folder.Root(), file); failure == nil {
			res.Files = append(res.Files, output.Listed(files)...)
		}
	}
	if r.host.Solved == nil {
		return failure
	}
	if t := r.metricsTable([]job.SolverResult{*res}); t.Columns != nil {
		n.Tables[TableMetrics] = t
	}
	n.Result = *res
	n.Reserved = r.memory.handOver(kept)
	if err := r.host.Solved(n); err != nil {
		return refusal{besides(failure, err)}
	}
	return failure
}

// entry is Θij in the units that the job asks for.
func (s *solution) entry(i, j int) float64 {
	if s.sparse != nil {
		return s.sparse.At(i, j)
	}
	return s.theta.At(i, j)
}

// inUnits returns Θ and Z, or what is in their place, in the units that the job asks for.
func (r *run) inUnits(est *solver.Estimate, by solverEntry) (theta, z *dense.Sym, sparse *solver.Sparse, err error) {
	if !r.mapsBack() {
		return est.Precision, est.Support, est.Sparse, nil
	}
	sd := r.unitDeviations(by)
	finite := true
	if sparse = est.Sparse; sparse != nil {
		sparse = sparse.Map(func(i, j int, v float64) float64 { return v / sd[i] / sd[j] })
		finite = sparse.Finite()
	} else {
		theta = original(est.Precision, sd)
		z = theta
		if est.Support != est.Precision {
			z = original(est.Support, sd)
		}
		finite = theta.Finite() && z.Finite()
	}
	if !finite {
		return nil, nil, nil, errors.New("the precision matrix in original units is beyond the range of float64; leave units at standardised")
	}
	return theta, z, sparse, nil
}

// mapsBack says whether estimates of standardised variables go to the units of the table.
func (r *run) mapsBack() bool { return r.job.Units == job.UnitsOriginal && r.table.Standardised() }

// unitDeviations are the standard deviations with which the estimate of a solver goes to the
// units of the table. A model's estimate of Θ takes covariance.ShrunkDeviations, for the
// errors of deviations become its own. That of other solvers is the minimum of an objective
// whose diagonal is S's, and keeps the ones of the table.
func (r *run) unitDeviations(by solverEntry) []float64 {
	sd := r.result.StandardDeviations
	if by.takesModel {
		sd = covariance.ShrunkDeviations(sd, r.result.Input.Samples)
	}
	return ofBlock(r, sd)
}

// original is Θij/(σi·σj) for the deviations σ.
func original(a *dense.Sym, sd []float64) *dense.Sym {
	b := dense.NewSym(a.Len(), nil)
	for i := range a.Len() {
		to := b.Row(i)
		for j, v := range a.Row(i) {
			// The smaller index first: rounding would break the symmetry.
			lo, hi := min(i, j), max(i, j)
			to[j] = v / sd[lo] / sd[hi]
		}
	}
	return b
}

// metadata is what every file of the run carries. Times are left to run.json:
// the same job gives the same bytes.
func (r *run) metadata() map[string]string {
	m := map[string]string{
		output.MetaVersion:      r.result.Version,
		output.MetaDirected:     strconv.FormatBool(r.regulators != nil),
		"gladflow.job":          output.JSON(r.result.Job),
		"gladflow.engine":       r.result.Engine,
		"gladflow.input_sha256": r.result.Input.SHA256,
		output.MetaSamples:      strconv.Itoa(r.result.Input.Samples),
		"gladflow.shrinkage":    output.Number(r.result.Input.Shrinkage),
	}
	if len(r.job.Labels) > 0 { // beside the job, for those who know no jobs
		m["gladflow.labels"] = output.JSON(r.job.Labels)
	}
	if list := r.result.Regulators; list != nil {
		m["gladflow.regulators_sha256"] = list.SHA256
	}
	if ref := r.result.Reference; ref != nil {
		m[output.MetaReferenceSHA256] = ref.SHA256
		m[output.MetaPopulation] = ref.Text
	}
	return m
}

// solverMetadata is what the files of one solver carry besides.
func (r *run) solverMetadata(res *job.SolverResult) map[string]string {
	m := r.metadata()
	m[output.MetaSolver] = res.Name
	m["gladflow.status"] = res.StatusText()
	m["gladflow.iterations"] = strconv.Itoa(res.Iterations)
	for key, f := range map[string]job.Float{
		"penalty": res.Penalty, "objective": res.Objective, "duality_gap": res.DualityGap,
		"relative_gap": res.RelativeGap, "kkt_residual": res.KKTResidual,
	} {
		if v := float64(f); !math.IsNaN(v) {
			m["gladflow."+key] = output.Number(v)
		}
	}
	if res.Model != "" {
		m["gladflow.model"] = res.Model
	}
	if res.Score != "" {
		m["gladflow.score"] = res.Score
	}
	if res.ExpectedFalse != nil {
		m["gladflow.fdr"] = output.Number(r.fdr())
		m["gladflow.expected_false"] = output.Number(float64(*res.ExpectedFalse))
	}
	m[output.MetaUnits] = job.UnitsStandardised
	if r.job.Units == job.UnitsOriginal || !r.table.Standardised() {
		m[output.MetaUnits] = job.UnitsOriginal
	}
	if entry := find(res.Name); r.mapsBack() && entry.takesModel {
		m[output.MetaUnitDeviations] = output.JSON(r.unitDeviations(entry))
	}
	m[output.MetaVariables] = output.JSON(r.result.Variables)
	m[output.MetaDeviations] = output.JSON(r.result.StandardDeviations)
	return m
}
