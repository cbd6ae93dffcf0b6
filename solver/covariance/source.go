package covariance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// A Source is a stream of samples.
type Source interface {
	// Next returns the next n samples of d variables: n·d finite numbers, one
	// sample after the other. They are valid until the next call. At the end
	// it returns io.EOF, with or without a last batch.
	Next() (rows []float64, n int, err error)
}

// A Table is a Source over samples in memory.
type Table struct {
	rows []float64
	d    int
}

// NewTable returns a Source of the samples in rows, d numbers each, one sample
// after the other. It can be read once.
func NewTable(rows []float64, d int) *Table { return &Table{rows: rows, d: d} }

// Next implements Source; it returns all samples at once.
func (t *Table) Next() (rows []float64, n int, err error) {
	if len(t.rows) == 0 {
		return nil, 0, io.EOF
	}
	rows, t.rows = t.rows, nil
	return rows, len(rows) / max(1, t.d), nil
}

// blockRows is the number of samples in a block: enough for the product of a
// block with itself to run at full speed, few enough to stay in the cache.
const blockRows = 256

// A block is some samples, one after the other.
type block struct {
	rows int
	data []float64 // rows×d
}

// A gatherer cuts the batches of a source into blocks of blockRows samples,
// the last one excepted, and refuses what is not finite.
type gatherer struct {
	src   Source
	d     int
	names []string

	batch  []float64 // what is left of the source's batch
	ended  bool
	buffer []float64
	read   int // samples before the block at hand
}

func newGatherer(src Source, d int, names []string) *gatherer {
	return &gatherer{src: src, d: d, names: names}
}

// next returns the next block, valid until the call after it unless release
// comes first, or an empty one at the end.
func (g *gatherer) next(ctx context.Context) (block, error) {
	g.buffer = g.buffer[:0]
	for len(g.buffer) < blockRows*g.d {
		if len(g.batch) == 0 {
			if g.ended {
				break
			}
			if err := ctx.Err(); err != nil {
				return block{}, err
			}
			if err := g.fetch(); err != nil {
				return block{}, err
			}
			continue
		}
		if g.buffer == nil {
			g.buffer = make([]float64, 0, blockRows*g.d)
		}
		n := min(len(g.batch), blockRows*g.d-len(g.buffer))
		g.buffer = append(g.buffer, g.batch[:n]...)
		g.batch = g.batch[n:]
	}
	b := block{rows: len(g.buffer) / g.d, data: g.buffer}
	for i, v := range b.data {
		if v-v != 0 {
			return block{}, notFinite(v, g.read+i/g.d, i%g.d, g.names)
		}
	}
	g.read += b.rows
	return b, nil
}

// release leaves the last block to the caller.
func (g *gatherer) release() { g.buffer = nil }

func (g *gatherer) fetch() error {
	rows, n, err := g.src.Next()
	switch {
	case errors.Is(err, io.EOF):
		g.ended = true
	case err != nil:
		return err // it says that it comes from the source
	}
	if n < 0 || n > math.MaxInt/g.d || len(rows) != n*g.d {
		return fmt.Errorf("the source gave %d numbers for %d samples of %d variables", len(rows), n, g.d)
	}
	g.batch = rows
	return nil
}
