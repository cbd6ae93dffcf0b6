package recovery

import (
	"cmp"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// edgesOutput is the list of edges that Job.Edges asks for, highest score first:
// arrowio.EdgeColumns.
func edgesOutput() solverOutput {
	return solverOutput{
		name: TableEdges,
		table: func(r *run, s *solution) output.Table {
			t := output.Table{Columns: arrowio.EdgeColumns(r.edges(s)), Metadata: r.solverMetadata(s.result)}
			t.Metadata["gladflow.edges"] = r.job.Edges
			return t
		},
	}
}

// edges are the pairs that the job asks for.
func (r *run) edges(s *solution) []arrowio.Edge {
	names := r.table.Names
	everyPair := r.job.Edges != job.EdgesSupport
	var list []arrowio.Edge
	for i := range names {
		support := s.Support.Row(i)
		for j := i + 1; j < len(names); j++ {
			if !everyPair && support[j] == 0 {
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
	if n, _ := r.job.Top(); n > 0 && n < len(list) {
		// Ties go by name, as in the file.
		slices.SortFunc(list, func(a, b arrowio.Edge) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
		})
		list = list[:n]
	}
	return list
}
