package glad

import "github.com/gladflow/gladflow/solver/dense"

const (
	// batchEntries is how many entries a network is evaluated at together, at
	// least a row of a tile.
	batchEntries = 256
	// scratchRows is what the cells need at most.
	scratchRows = 6
)

// A worker is the memory of one goroutine.
type worker struct {
	scratch []scratch // by network
	pieces  []piece
	// The entries whose features are being computed.
	paper     [stripRows]paperEntries // by piece
	posterior posteriorEntries
	// kept, where it is not nil, are activations: those of the next batch,
	// those of the one after it, and so on. known says that they are there
	// already.
	kept  []float64
	known bool
}

// A piece is the entries from ≤ j < to of row i. They are those of a batch from
// at on.
type piece struct{ i, from, to, at int }

// of is p in a.
func (p piece) of(a *dense.Sym) []float64 { return a.Row(p.i)[p.from:p.to] }

// in is p in a batch.
func (p piece) in(x []float64) []float64 { return x[p.at : p.at+p.to-p.from] }

type scratch struct {
	batch batch
	// rows are for what a cell computes besides its features.
	rows [][]float64
}

// gather makes pieces of the rows i, i + 1, ... of a block, as many as fit in a
// batch, and returns the row that is next and the number of entries.
func (w *worker) gather(i, end, left, right int) (next, n int) {
	w.pieces = w.pieces[:0]
	for ; i < end; i++ {
		from := max(i, left)
		if from >= right {
			return end, n // as in all rows below
		}
		if n+right-from > batchEntries {
			break
		}
		w.pieces = append(w.pieces, piece{i, from, right, n})
		n += right - from
	}
	return i, n
}

// run evaluates c, the network of k, at the first n inputs, or returns what was
// kept of that.
func (w *worker) run(k *scratch, c *network, n int) [][]float64 {
	if w.kept == nil {
		return c.run(&k.batch, n)
	}
	for _, layer := range k.batch.units {
		for u := range layer {
			layer[u], w.kept = w.kept[:n:n], w.kept[n:]
		}
	}
	if w.known {
		return k.batch.units[len(k.batch.units)-1]
	}
	return c.run(&k.batch, n)
}

func newWorker(networks []*network, adjoint bool) *worker {
	w := &worker{}
	for _, n := range networks {
		s := scratch{rows: rows(scratchRows, tileColumns)}
		if adjoint {
			s.batch.fitAdjoint(n, batchEntries)
		} else {
			s.batch.fit(n, batchEntries)
		}
		w.scratch = append(w.scratch, s)
	}
	return w
}
