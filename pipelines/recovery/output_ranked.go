package recovery

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// ranks says that the edges of a solver are those of a ranking.
func (r *run) ranks(of solverEntry) bool { return of.Ranking || r.job.Regulators != "" }

// rankedOutput is the list of edges of a ranking, highest score first: arrowio.Ranked.
func rankedOutput() solverOutput {
	return solverOutput{name: TableEdges, of: (*run).ranks, prepare: func(r *run, s *solution) (preparedOutput, error) {
		list, metadata := r.rankedList(s), r.listMetadata(s.result)
		err := r.scoreList(s, len(list.Pairs), func(k int) (i, j int, score float64) {
			p := list.Pairs[k]
			return int(p.Source), int(p.Target), p.Score
		})
		return prepareTable(r, list.Columns(), metadata), err
	}}
}

// rankedList are the pairs of highest score, as many as the job asks for.
func (r *run) rankedList(s *solution) arrowio.Ranked {
	names, k := r.table.Names, s.ranking
	d := len(names)
	pairs := make([]arrowio.RankedPair, 0, k.pairs(d))
	k.each(d, func(i, j int, score float64, sign int8) {
		pairs = append(pairs, arrowio.RankedPair{Source: int32(i), Target: int32(j), Score: score, Sign: sign})
	})
	list := arrowio.Rank(names, pairs, int(r.listed(s.solver, int64(len(pairs)))))
	if k.probability != nil {
		list.Probability = make([]float64, len(list.Pairs))
		for n, p := range list.Pairs {
			list.Probability[n] = k.probability(p.Score)
		}
	}
	return list
}

func signOf(v float64) int8 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// EdgeColumns are the columns of the list of edges of a solver of a job, without rows. A
// model file is opened as a file of this machine.
func EdgeColumns(j job.Job, solver string) []arrowio.Column {
	s := find(solver)
	switch {
	case s.Ranking || j.Regulators != "":
	case s.takesModel && givesProbabilities(j):
		return arrowio.LikelyEdgeColumns(nil, []float64{})
	default:
		return arrowio.EdgeColumns(nil)
	}
	var list arrowio.Ranked
	if s.probability {
		list.Probability = []float64{}
	}
	return list.Columns()
}

// HasPrecision says whether a solver has a precision matrix. Those that rank have none.
func HasPrecision(solver string) bool { return !find(solver).Ranking }
