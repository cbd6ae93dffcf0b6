package dense

import "context"

// An AccumulatingEngine is an Engine that can keep a sum of products XᵀX itself, such as
// one on a device, to and from which the sum then need not be copied for every X.
type AccumulatingEngine interface {
	Engine
	// Accumulate begins with the n×n sums (row-major, the upper triangle), which it
	// leaves as they are, or with zeros where sums is nil. Every X has up to rows rows.
	// known is how many rows all X have that are known so far, in sums or not. Where
	// they are too few to be worth the way, or where there is no memory for it, it
	// returns nil, and no error: the caller goes on with Syrk, and may ask again.
	Accumulate(ctx context.Context, n, rows, known int, sums []float64) (Accumulator, error)
}

// An Accumulator keeps a sum of products. Its methods are called one at a time. After an
// error of one, that of ctx too, nothing is left but Close.
type Accumulator interface {
	// Scale multiplies every entry ij of the sum by factor i times factor j.
	Scale(ctx context.Context, factor []float64) error
	// Add adds XᵀX, X being row-major. It has read x when it returns; the product may
	// still be at work.
	Add(ctx context.Context, rows int, x []float64) error
	// Sum writes the upper triangle of the sum. What it writes to the lower is undefined.
	Sum(ctx context.Context, sums []float64) error
	// Close gives back what the Accumulator holds.
	Close() error
}
