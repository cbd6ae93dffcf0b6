package pipelines

import (
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Keys of the metadata of every file that a run writes; the rest are in
// metadata and write.
const (
	MetaVersion    = "gladflow.version"
	MetaDirected   = "gladflow.directed"
	MetaVariables  = "gladflow.variables"
	MetaDeviations = "gladflow.standard_deviations"
)

func (r *recovery) path(name string) string { return filepath.Join(r.job.Out, name) }

// write writes the edge list and the precision matrix of an estimate, if the
// job says where, and returns the names of the files. The format of the job is
// one of edge lists; a matrix that does not have it is written in its default.
func (r *recovery) write(res *SolverResult, edges []arrowio.Edge, edgesMeta map[string]string, precision arrowio.Precision, precisionMeta map[string]string) (files []string, err error) {
	if r.job.Out == "" {
		return nil, nil
	}
	list, err := arrowio.EdgeFormats().Find(r.job.Format)
	if err != nil {
		return nil, err
	}
	name := res.Name + ".edges." + list.Name
	if err := list.Write(r.path(name), edges, edgesMeta); err != nil {
		return nil, err
	}
	files = append(files, name)
	matrix := arrowio.PrecisionFormats().For(r.job.Format)
	name = res.Name + ".precision." + matrix.Name
	if err := matrix.Write(r.path(name), precision, precisionMeta); err != nil {
		return files, err
	}
	return append(files, name), nil
}

// edges are the pairs that the job asks for, in the order of the file; theta is
// in the job's units.
func (r *recovery) edges(est *solver.Estimate, theta *dense.Sym) []arrowio.Edge {
	names := r.input.names
	everyPair := r.job.Edges != EdgesSupport
	var list []arrowio.Edge
	for i := range names {
		support := est.Support.Row(i)
		for j := i + 1; j < len(names); j++ {
			if !everyPair && support[j] == 0 {
				continue
			}
			list = append(list, arrowio.Edge{
				Source:             names[i],
				Target:             names[j],
				Score:              est.Score(i, j),
				Precision:          theta.At(i, j),
				PartialCorrelation: est.PartialCorrelation(i, j),
			})
		}
	}
	slices.SortFunc(list, arrowio.CompareEdges)
	if n, _ := r.job.top(); n > 0 && n < len(list) {
		list = list[:n]
	}
	return list
}

// metadata is what every file of the run carries. Times are left to run.json:
// the same job gives the same bytes.
func (r *recovery) metadata() map[string]string {
	m := map[string]string{
		MetaVersion:             r.result.Version,
		MetaDirected:            "false",
		"gladflow.job":          text(r.result.Job),
		"gladflow.engine":       r.result.Engine,
		"gladflow.input_sha256": r.result.Input.SHA256,
		"gladflow.samples":      strconv.Itoa(r.result.Input.Samples),
		"gladflow.shrinkage":    number(r.result.Input.Shrinkage),
	}
	if ref := r.result.Reference; ref != nil {
		m["gladflow.reference_sha256"] = ref.SHA256
		m["gladflow.population"] = ref.Text
	}
	return m
}

// solverMetadata is what the files of one solver carry besides.
func (r *recovery) solverMetadata(res *SolverResult) map[string]string {
	m := r.metadata()
	m["gladflow.solver"] = res.Name
	m["gladflow.status"] = res.StatusText()
	m["gladflow.iterations"] = strconv.Itoa(res.Iterations)
	for key, f := range map[string]Figure{
		"penalty": res.Penalty, "objective": res.Objective, "duality_gap": res.DualityGap,
		"relative_gap": res.RelativeGap, "kkt_residual": res.KKTResidual,
	} {
		if v := float64(f); !math.IsNaN(v) {
			m["gladflow."+key] = number(v)
		}
	}
	if res.Model != "" {
		m["gladflow.model"] = res.Model
	}
	m["gladflow.units"] = UnitsStandardised
	if r.job.Units == UnitsOriginal || !r.standardised() {
		m["gladflow.units"] = UnitsOriginal
	}
	m[MetaVariables] = text(r.result.Variables)
	m[MetaDeviations] = text(r.result.StandardDeviations)
	return m
}

func (r *recovery) precisionMetadata(res *SolverResult) map[string]string {
	m := r.solverMetadata(res)
	m["gladflow.matrix"] = "sparse (Z)"
	if r.job.Precision == PrecisionDense {
		m["gladflow.matrix"] = "dense (Theta)"
	}
	return m
}

// text is v as JSON. It is for values that have one.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// runFile is the name of the document that a run leaves in its folder.
const runFile = "run.json"

func (r *recovery) writeRun() error {
	if r.job.Out == "" {
		return nil
	}
	data, err := json.MarshalIndent(r.result, "", "  ")
	if err != nil {
		return err
	}
	return arrowio.ReplaceFile(r.path(runFile), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}
