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
// arrowio.EdgeColumns.
func edgesOutput() solverOutput {
	return solverOutput{name: TableEdges, of: func(r *run, s solverEntry) bool { return !r.ranks(s) }, prepare: func(r *run, s *solution) preparedOutput {
		edges, metadata := r.edges(s), r.solverMetadata(s.result)
		metadata["gladflow.edges"] = r.job.Edges
		if s.probability != nil {
			return likelyEdges(r, s, edges, metadata)
		}
		format := arrowio.EdgeFormats().For(r.job.Format)
		return preparedOutput{
			table:  func() output.Table { return output.Table{Columns: arrowio.EdgeColumns(edges), Metadata: metadata} },
			format: format.Name,
			write: func(folder *os.Root, name string) ([]arrowio.Written, error) {
				return format.Write(folder, name, edges, metadata)
			},
		}
	}}
}

// likelyEdges is the list with the probability of every edge.
func likelyEdges(r *run, s *solution, edges []arrowio.Edge, metadata map[string]string) preparedOutput {
	at := table.Positions(r.table.Names)
	probability := make([]float64, len(edges))
	for k, e := range edges {
		probability[k] = s.probability.At(at[e.Source], at[e.Target])
	}
	return prepareTable(r, arrowio.LikelyEdgeColumns(edges, probability), metadata)
}

// prepareTable is a table in the format of the job, or the default where it lacks that.
func prepareTable(r *run, columns []arrowio.Column, metadata map[string]string) preparedOutput {
	format := arrowio.TableFormats().For(r.job.Format)
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
	everyPair := r.job.Edges != job.EdgesSupport
	var list []arrowio.Edge
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if !everyPair && !s.IsEdge(i, j) {
				continue
			}
			list = append(list, arrowio.Edge{
				Source:             names[i],
				Target:             names[j],
				Score:              s.Score(i, j),
				Precision:          s.theta.At(i, j),
				PartialCorrelation: s.PartialCorrelation(i, j),
			})
		}
	}
	slices.SortFunc(list, arrowio.CompareEdges)
	if n, _ := r.job.Top(); n > 0 && n < len(list) {
		list = list[:n]
	}
	return list
}
