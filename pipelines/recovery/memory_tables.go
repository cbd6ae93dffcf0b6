package recovery

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A tableSize is how large the tables of a solver are.
type tableSize struct {
	pairs   int64 // that are ranked
	edges   int64 // that are listed of them
	entries int64 // of a sparse precision matrix
	dense   int64 // bytes of a matrix that is written whole
	block   int64 // bytes of a matrix
	wide    bool  // Θ is not a matrix
}

// solverMemory is what a solver takes, with the regulators' scores if they are known.
func (r *run) solverMemory(of solverEntry, c solverConfig) int64 {
	d := len(r.table.Names)
	switch p := int64(len(r.regulators)); {
	case p == 0:
		return of.memory(c, d)
	case of.Ranking:
		return of.memory(c, d) + 2*8*p*int64(d)
	default: // the block, the correlation, the coefficients with what is multiplied, the scores
		return of.memory(c, int(p)) + 2*matrix(int(p)) + matrix(d) + 4*8*p*int64(d)
	}
}

// tableSize is that of a solver with so many edges, whose Z has so many non-zeros off the
// diagonal, in pairs.
func (r *run) tableSize(of solverEntry, edges, nonZeros int64) tableSize {
	d := int64(len(r.table.Names))
	block := r.blockLen()
	s := tableSize{pairs: edges, entries: nonZeros + int64(block), block: matrix(block)}
	if r.job.Edges != job.EdgesSupport || of.Ranking {
		s.pairs = d * (d - 1) / 2
	}
	if r.table.KeepColumns {
		s.block, s.wide = 0, true
	}
	if r.regulators != nil {
		s.pairs = int64(block) * (d - 1)
	}
	s.edges = r.listed(of, s.pairs)
	if r.job.Precision == job.PrecisionDense {
		s.entries, s.dense = 0, s.block
	}
	if of.Ranking {
		s.entries, s.dense, s.block = 0, 0, 0
	}
	return s
}

// listed is how many of so many pairs a list of edges has.
func (r *run) listed(of solverEntry, pairs int64) int64 {
	n, _ := r.job.Top()
	if r.job.Edges == job.EdgesSupport && r.ranks(of) {
		n = job.MostRanked
	}
	if n > 0 {
		return min(pairs, int64(n))
	}
	return pairs
}

// What a row of a table takes.
const (
	pairBytes   = 56           // in the list of edges
	sparseBytes = 16           // of an entry of a sparse matrix, or of its diagonal
	edgeBytes   = 57 + 45 + 80 // as columns, as a record or what is written, in the writer
	entryBytes  = 90 + 30 + 40 // of columns that grow by appending, and the same

	keptEdgeBytes  = 2*4 + 3*8 + 1 // in a record, without the names
	keptEntryBytes = 2*4 + 8
)

// deliveryMemory is what it takes to make tables of an estimate, and to write them.
func (r *run) deliveryMemory(s tableSize) int64 {
	bytes := 2 * s.block // Θ and Z
	if s.wide {
		bytes += 2 * sparseBytes * s.entries
	}
	if r.job.Units == job.UnitsOriginal {
		bytes += 2 * s.block
	}
	if s.block == 0 && !s.wide || r.regulators != nil {
		bytes += 2 * matrix(len(r.table.Names)) // scores and signs
	}
	names := r.nameBytes()
	bytes += pairBytes*s.pairs + (edgeBytes+3*r.sureBytes()+4*names)*s.edges + (entryBytes+4*names)*s.entries
	return bytes + 4*s.dense
}

// keptMemory is what the tables of a solver take that the host keeps.
func (r *run) keptMemory(s tableSize) int64 {
	if r.host.Solved == nil {
		return 0
	}
	names := 2 * r.nameBytes()
	bytes := (keptEdgeBytes+r.sureBytes()+names)*s.edges + (keptEntryBytes+names)*s.entries
	return bytes + s.dense
}

// sureBytes is what the columns that the job asks for to say how sure an edge is take of a
// row of a record.
func (r *run) sureBytes() int64 {
	columns := int64(1) // the probability of an edge
	if r.job.Stability > 0 {
		columns += 2
	}
	if r.job.TestsPairs() {
		columns += 4
	}
	return 8 * columns
}

// nameBytes is the mean length of a name, and a bit more.
func (r *run) nameBytes() int64 {
	var sum int64
	for _, n := range r.table.Names {
		sum += int64(len(n))
	}
	return sum/int64(len(r.table.Names)) + 1
}

// admitTables reserves for the tables of an estimate, whose size is known now. It
// returns what of that is for the tables that the host keeps.
func (r *run) admitTables(of solverEntry, found *finding) (kept int64, err error) {
	m := &r.memory
	var edges, nonZeros int64
	if found.estimate != nil {
		edges, nonZeros = int64(found.estimate.Edges()), int64(found.estimate.NonZeros())
	}
	size := r.tableSize(of, edges, nonZeros)
	kept = r.keptMemory(size)
	m.tables += kept - r.keptMemory(r.tableSize(of, 0, 0))
	held := matrix(len(r.table.Names)) // S
	if r.columns != nil {
		held = 0
	}
	err = m.raise(held+r.deliveryMemory(size), fmt.Sprintf("tables of %d edges", size.edges))
	return kept, err
}
