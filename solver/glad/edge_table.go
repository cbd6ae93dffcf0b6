package glad

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// An edgeTable is what the features of the edge head are made of, of one problem: matrices,
// numbers of every variable, and numbers of the table.
type edgeTable struct {
	d, threads  int
	samples     float64 // M, or the guess of likelySamples
	rootSamples float64

	s, theta, z *dense.Sym
	// shrunk is the inverse of the shrunk correlation. Its memory becomes the result's.
	shrunk *dense.Sym
	// What entries are multiplied by to make correlations of them: one over the roots of
	// the diagonals.
	perS, perTheta, perShrunk []float64

	// Of variable i, as the comments of the features say.
	node, partialContext, sparseContext, shrunkContext, shrunkMean, shrunkLargest, information []float64

	// Of the table, as the comments of the features say.
	meanSquare, kurtosis, sparseSquare, sparseKurtosis, shrunkSquare, shrunkKurtosis, largest, meanInformation float64
	spread, crest, sparseSpread, sparseCrest                                                                   float64
}

// newEdgeTable prepares the features of a problem.
func newEdgeTable(ctx context.Context, engine dense.Engine, p solver.Problem, precision, support *dense.Sym) (*edgeTable, error) {
	d := p.S.Len()
	r := rows(10, d)
	t := &edgeTable{
		d: d, threads: dense.Threads(engine), samples: float64(p.Samples), s: p.S, theta: precision, z: support,
		perS: r[0], perTheta: r[1], perShrunk: r[2],
		node: r[3], partialContext: r[4], shrunkContext: r[5], shrunkMean: r[6], shrunkLargest: r[7], information: r[8], sparseContext: r[9],
	}
	if p.Samples == 0 {
		t.samples = likelySamples(p.S)
	}
	t.rootSamples = math.Sqrt(t.samples)
	for i := range d {
		t.perS[i], t.perTheta[i] = 1/math.Sqrt(p.S.At(i, i)), 1/math.Sqrt(precision.At(i, i))
	}
	sums := rows(6, d) // by row: second and fourth powers of r, then of l, then of z
	err := t.eachRow(ctx, func(_, i int) {
		var partial float64
		s, theta, z := t.s.Row(i), t.theta.Row(i), t.z.Row(i)
		for j := range d {
			if j == i {
				continue
			}
			v := scaledEntry(z[j], t.perTheta[i], t.perTheta[j])
			sums[4][i] += v * v
			sums[5][i] += v * v * v * v
			r, p := scaledEntry(s[j], t.perS[i], t.perS[j]), scaledEntry(theta[j], t.perTheta[i], t.perTheta[j])
			sums[0][i] += r * r
			sums[1][i] += r * r * r * r
			partial += p * p
		}
		t.node[i], t.partialContext[i] = math.Log1p(sums[0][i]), math.Log(contextLeast+partial)
		t.sparseContext[i] = math.Log(contextLeast + sums[4][i])
	})
	if err != nil {
		return nil, err
	}
	if err := t.invert(ctx, engine, shrinkage(float64(d)+floats.Sum(sums[0]), t.samples, d)); err != nil {
		return nil, err
	}
	err = t.eachRow(ctx, func(_, i int) {
		var squares float64
		for j, v := range t.shrunk.Row(i) {
			if j == i {
				continue
			}
			l := scaledEntry(v, t.perShrunk[i], t.perShrunk[j])
			squares += l * l
			sums[3][i] += l * l * l * l
			t.shrunkMean[i] += l / float64(d-1)
			t.shrunkLargest[i] = max(t.shrunkLargest[i], l)
		}
		sums[2][i], t.shrunkContext[i] = squares, math.Log(contextLeast+squares)
	})
	if err != nil || d < 2 { // no pair will ask
		return t, err
	}
	t.summarise(sums)
	return t, nil
}

// scaledEntry is the absolute value of a correlation. It is the same for (i, j) and (j, i).
func scaledEntry(v, perI, perJ float64) float64 { return min(math.Abs(v)*(perI*perJ), 1) }

// invert makes shrunk the inverse of (1 − weight)·R + weight·I.
func (t *edgeTable) invert(ctx context.Context, engine dense.Engine, weight float64) error {
	d := t.d
	t.shrunk = dense.NewSym(d, nil)
	a := t.shrunk
	err := t.eachRow(ctx, func(_, i int) {
		to := a.Row(i)
		for j, v := range t.s.Row(i) {
			to[j] = (1 - weight) * v * (t.perS[i] * t.perS[j])
		}
		to[i] = 1
	})
	if err != nil {
		return err
	}
	ok := false
	err = dense.AwaitLong(ctx, d, func() { _, ok = dense.NewWorkspace(engine, d).Inverse(a, a) })
	if err != nil {
		return err
	}
	if !ok || !a.Finite() { // S is not quite positive semidefinite
		t.shrunk = dense.Identity(d)
	}
	for i := range d {
		v := max(t.shrunk.At(i, i), 1) // no less, but for rounding
		t.perShrunk[i], t.information[i] = 1/math.Sqrt(v), math.Log(v)
	}
	return nil
}

// shrinkage is the weight of the identity with which a d×d correlation of m Gaussian samples
// has about the least expected error: Chen, Wiesel, Eldar and Hero, "Shrinkage Algorithms for
// MMSE Covariance Estimation", IEEE Transactions on Signal Processing 58 (2010), eq. 23. Unlike
// that of Ledoit and Wolf it needs no samples. squares is the sum of the squares of all
// entries. It is no less than 10⁻⁴, so that what is shrunk is positive definite.
func shrinkage(squares, m float64, d int) float64 {
	const least = 1e-4
	p := float64(d)
	above, below := (1-2/p)*squares+p*p, (m+1-2/p)*(squares-p)
	if !(below > above) {
		return 1
	}
	return max(above/below, least)
}

const (
	contextLeast = 0.01 // in contexts of variables
	edgeLeast    = 1e-3 // in other logarithms
)

// summarise fills in what is of the table.
func (t *edgeTable) summarise(sums [][]float64) {
	d := float64(t.d)
	pairs := d * (d - 1)
	moments := func(second, fourth []float64) (square, kurtosis float64) {
		square, kurtosis = floats.Sum(second)/pairs, 3
		if square > 1e-100 {
			kurtosis = floats.Sum(fourth) / pairs / (square * square)
		}
		return t.samples * square, kurtosis
	}
	t.meanSquare, t.kurtosis = moments(sums[0], sums[1])
	t.shrunkSquare, t.shrunkKurtosis = moments(sums[2], sums[3])
	t.sparseSquare, t.sparseKurtosis = moments(sums[4], sums[5])
	t.spread, t.crest = spreadAndCrest(t.node)
	t.sparseSpread, t.sparseCrest = spreadAndCrest(t.sparseContext)
	l := floats.Max(t.shrunkLargest)
	t.largest = t.samples * l * l / (2 * math.Log1p(pairs/2))
	t.meanInformation = floats.Sum(t.information) / d
}

// spreadAndCrest are the standard deviation of x, and its largest less its mean.
func spreadAndCrest(x []float64) (spread, crest float64) {
	mean := floats.Sum(x) / float64(len(x))
	for _, v := range x {
		spread += (v - mean) * (v - mean) / float64(len(x))
	}
	return math.Sqrt(spread), floats.Max(x) - mean
}

// edgePairs are the pairs of row i and the columns from on, in absolute values.
type edgePairs struct {
	i, from                              int
	correlation, partial, sparse, shrunk []float64
}

func newEdgePairs(n int) edgePairs {
	r := rows(4, n)
	return edgePairs{correlation: r[0], partial: r[1], shrunk: r[2], sparse: r[3]}
}

// load makes e the pairs i < from ≤ j < to of row i.
func (t *edgeTable) load(e *edgePairs, i, from, to int) {
	e.i, e.from = i, from
	s, theta, z, shrunk := t.s.Row(i), t.theta.Row(i), t.z.Row(i), t.shrunk.Row(i)
	for j := from; j < to; j++ {
		k := j - from
		e.correlation[k] = scaledEntry(s[j], t.perS[i], t.perS[j])
		e.partial[k] = scaledEntry(theta[j], t.perTheta[i], t.perTheta[j])
		e.sparse[k] = scaledEntry(z[j], t.perTheta[i], t.perTheta[j])
		e.shrunk[k] = scaledEntry(shrunk[j], t.perShrunk[i], t.perShrunk[j])
	}
}
