package dream5

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// MostEdges is the length of the lists that the challenge takes.
const MostEdges = 100_000

// writeList writes the ranked list of a solver in the format of the challenge's
// submissions: regulator, target and score, separated by tabs, the best first.
func (r *run) writeList(s *SolverResult, scores *comparison.Scores) error {
	if r.folder == nil {
		return nil
	}
	edges := ranked(scores, r.listed, MostEdges)
	s.List = r.listName(*s)
	file, err := arrowio.ReplaceFileIn(r.folder.Root(), s.List, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for _, e := range edges {
			b.WriteString(scores.Names[e.source])
			b.WriteByte('\t')
			b.WriteString(scores.Names[e.target])
			b.WriteByte('\t')
			b.WriteString(strconv.FormatFloat(e.score, 'g', 8, 64))
			b.WriteByte('\n')
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	r.result.Files = append(r.result.Files, job.WrittenFile(file))
	return nil
}

// listName is the name that the challenge gives to a submission, with the solver for the
// team.
func (r *run) listName(s SolverResult) string {
	team := s.Solver
	if s.Regulators {
		team += "-regulators"
	}
	if size, number, ok := strings.Cut(r.network.name, "_"); ok {
		return fmt.Sprintf("DREAM4_%s_InSilico_S%s_multifactorial_%s.txt", team, size[1:], number)
	}
	return fmt.Sprintf("DREAM5_NetworkInference_%s_Network%s.txt", team, r.network.name)
}

// An edge is a pair with its score.
type edge struct {
	source, target int32
	score          float64
}

// ranked are the best edges from a listed gene (nil: from any) to any other, the best
// first; in the order of the table where scores are equal. Pairs without a score are not
// among them.
func ranked(s *comparison.Scores, listed map[string]bool, most int) []edge {
	var edges []edge
	for i, source := range s.Names {
		if listed != nil && !listed[source] {
			continue
		}
		for j := range s.Names {
			if v := s.At(i, j); i != j && !math.IsInf(v, -1) {
				edges = append(edges, edge{int32(i), int32(j), v})
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(b.score, a.score) })
	return edges[:min(len(edges), most)]
}

// write leaves the table of all figures and the document in the folder, and the report.
func (r *run) write() error {
	if t := r.metrics(); r.folder != nil && len(t.Columns) > 0 {
		format := arrowio.TableFormats().For(r.Format)
		files, err := format.Write(r.folder.Root(), "metrics."+format.Name, t.Columns, t.Metadata)
		if err != nil {
			return err
		}
		r.result.Files = append(r.result.Files, output.Listed(files)...)
	}
	if r.report != nil {
		written, err := r.report.file.Write(r.page().Encode)
		if err != nil {
			return err
		}
		written.Name = output.Beside(r.Out, r.Report)
		r.result.Files = append(r.result.Files, written)
	}
	if r.folder == nil {
		return nil
	}
	return r.folder.WriteJSON(DocumentFile, r.result)
}

// metrics has a row for every figure, with two columns for each baseline.
func (r *run) metrics() output.Table {
	var (
		solver, population, metrics []string
		regulators                  []int64
		value, se                   []float64
	)
	minus := make([][2][]float64, len(r.Baselines))
	for _, s := range r.result.Solvers {
		for _, f := range s.Figures {
			solver, population, metrics = append(solver, s.Solver), append(population, f.Population), append(metrics, f.Metric)
			given := int64(0)
			if s.Regulators {
				given = 1
			}
			regulators = append(regulators, given)
			value, se = append(value, float64(f.Value)), append(se, float64(f.StandardError))
			for k, b := range r.Baselines {
				d := f.Difference(b)
				minus[k][0], minus[k][1] = append(minus[k][0], float64(d.Value)), append(minus[k][1], float64(d.StandardError))
			}
		}
	}
	if len(value) == 0 {
		return output.Table{}
	}
	t := output.Table{
		Columns: []arrowio.Column{
			{Name: "solver", Values: solver}, {Name: "regulators", Values: regulators},
			{Name: "population", Values: population}, {Name: "metric", Values: metrics},
			{Name: "value", Values: value}, {Name: "standard_error", Values: se},
		},
		Metadata: map[string]string{
			output.MetaVersion: job.Version(),
			"gladflow.dream5":  output.JSON(r.Dream5),
			"gladflow.network": r.network.name,
			"gladflow.data":    r.result.Data.Text,
		},
	}
	for k, b := range r.Baselines {
		t.Columns = append(t.Columns, arrowio.Column{Name: "minus_" + b, Values: minus[k][0]}, arrowio.Column{Name: "minus_" + b + "_error", Values: minus[k][1]})
	}
	return t
}
