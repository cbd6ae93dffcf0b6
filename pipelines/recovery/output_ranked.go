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
		err := r.scoreList(s, len(list.Pairs), list.edge)
		return prepareTable(arrowio.EdgeFormats().For(r.job.Format), list.Columns(), metadata), err
	}}
}

// rankedList are the pairs of highest score, as many as the job asks for.
func (r *run) rankedList(s *solution) rankedEdges {
	names, k := r.table.Names, s.ranking
	d := len(names)
	pairs := make([]arrowio.RankedPair, 0, k.pairs(d))
	listed := r.lists(s.kept)
	k.each(d, func(i, j int, score float64, sign int8) {
		if !listed(i, j) {
			return
		}
		pairs = append(pairs, arrowio.RankedPair{Source: int32(i), Target: int32(j), Score: score, Sign: sign})
	})
	list := arrowio.Rank(names, pairs, int(r.listed(s.solver, int64(len(pairs)))))
	ranked := rankedEdges{list}
	ranked.Confidence = s.confidence(len(list.Pairs), ranked.edge)
	return ranked
}

// rankedEdges are a ranking's pairs as those of any list.
type rankedEdges struct{ arrowio.Ranked }

// edge is the k-th of them.
func (l rankedEdges) edge(k int) (i, j int, score float64) {
	p := l.Pairs[k]
	return int(p.Source), int(p.Target), p.Score
}

// rankedEdges is the number of pairs of a ranking that are listed, of those kept; nil for all.
func (r *run) rankedEdges(of solverEntry, k *ranking, kept func(i, j int) bool) int {
	most := r.tableSize(of, 0, 0).edges
	if fdr, _ := r.job.EdgeFDR(); fdr == 0 && kept == nil {
		return int(most)
	}
	var n int64
	listed := r.lists(kept)
	k.each(len(r.table.Names), func(i, j int, _ float64, _ int8) {
		if listed(i, j) {
			n++
		}
	})
	return int(min(most, n))
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
	columns := arrowio.EdgeColumns(nil)
	if s.Ranking || j.Regulators != "" {
		columns = arrowio.Ranked{}.Columns()
	}
	var known arrowio.Confidence
	if s.probability || s.takesModel && j.Regulators == "" && givesProbabilities(j) {
		known.EdgeProbability = []float64{}
	}
	if j.Stability > 0 || j.FalseEdges > 0 {
		known.SelectionProbability, known.SignConsistency = []float64{}, []float64{}
	}
	if j.TestsPairs() {
		known.PValue, known.QValue, known.Lower, known.Upper = []float64{}, []float64{}, []float64{}, []float64{}
	}
	return append(columns, known.Columns()...)
}

// HasPrecision says whether a solver has a precision matrix. Those that rank have none.
func HasPrecision(solver string) bool { return !find(solver).Ranking }
