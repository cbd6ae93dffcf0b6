package recovery

import (
	"os"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/table"
)

// edgesOutput is the list of edges that Job.Edges asks for, highest score first:
// arrowio.EdgeColumns, and those that say how sure they are.
func edgesOutput() solverOutput {
	return solverOutput{name: TableEdges, of: func(r *run, s solverEntry) bool { return !r.ranks(s) }, prepare: func(r *run, s *solution) (preparedOutput, error) {
		edges, metadata := r.edges(s), r.listMetadata(s.result)
		at := table.Positions(r.table.Names)
		edge := func(k int) (i, j int, score float64) {
			return at[edges[k].Source], at[edges[k].Target], edges[k].Score
		}
		if err := r.scoreList(s, len(edges), edge); err != nil {
			return preparedOutput{}, err
		}
		columns := append(arrowio.EdgeColumns(edges), s.confidence(len(edges), edge).Columns()...)
		return prepareTable(arrowio.EdgeFormats().For(r.job.Format), columns, metadata), nil
	}}
}

// prepareTable is a table that is written in a format.
func prepareTable(format arrowio.Format[[]arrowio.Column], columns []arrowio.Column, metadata map[string]string) preparedOutput {
	return preparedOutput{
		table:  func() output.Table { return output.Table{Columns: columns, Metadata: metadata} },
		format: format.Name,
		write: func(folder *os.Root, name string) ([]arrowio.Written, error) {
			return format.Write(folder, name, columns, metadata)
		},
	}
}

// edges are the pairs that the job asks for, in the order of the file.
func (r *run) edges(s *solution) []arrowio.Edge {
	names := r.table.Names
	everyPair, listed := r.job.Edges != job.EdgesSupport, r.lists(s.kept)
	var list []arrowio.Edge
	add := func(i, j int) {
		if !listed(i, j) {
			return
		}
		list = append(list, arrowio.Edge{
			Source:             names[i],
			Target:             names[j],
			Score:              s.Score(i, j),
			Precision:          s.entry(i, j),
			PartialCorrelation: s.PartialCorrelation(i, j),
		})
	}
	if everyPair {
		for i := range names {
			for j := i + 1; j < len(names); j++ {
				add(i, j)
			}
		}
	} else {
		s.EachEdge(add)
	}
	slices.SortFunc(list, arrowio.CompareEdges)
	if n, _ := r.job.Top(); n > 0 && n < len(list) {
		list = list[:n]
	}
	return list
}

// listMetadata is what a list of edges carries: what its solver's files do, which pairs it
// holds, and the figures of every pair, which a list that lacks some does not show.
func (r *run) listMetadata(res *job.SolverResult) map[string]string {
	m := r.solverMetadata(res)
	m["gladflow.edges"] = r.job.Edges
	if res.Metrics != nil {
		m[output.MetaMetrics] = output.JSON(res.Metrics)
	}
	return m
}
