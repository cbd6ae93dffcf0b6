package glad

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// An edgeTable is what the features of the edge head are computed from, of one problem.
type edgeTable struct {
	d, threads  int
	samples     float64 // M, or the guess of likelySamples
	rootSamples float64
	gain        float64 // softplus(e) of the last posterior-mean cell

	s, theta, z *dense.Sym
	// score is Θ⁻¹, of which Θ⁻¹ − S is the score of the likelihood; nil where no feature needs it.
	score *dense.Sym
	// shrunk is the inverse of the shrunk correlation. Its memory becomes the result's.
	shrunk *dense.Sym
	// What entries are multiplied by to make correlations of them: 1/√Sii, 1/√Θii and
	// 1/√ of the diagonal of shrunk.
	perS, perTheta, perShrunk []float64

	// By variable, over the other variables.
	correlation, partial, shrunkRow edgeRowStatistics

	// Of the table.
	meanSquare    float64 // of √M·R over pairs
	kurtosis      float64 // of R
	largest       float64 // of M times the square of the shrunk partial correlation
	spread, crest float64 // of the logarithms of the rows' sums of squares of R: standard deviation, and largest less mean
	shrinkage     float64
	shrunk0 []float64; meanInfo, shrunkKurt, shrunkSquare float64
}

// edgeRowStatistics are those of absolute values.
type edgeRowStatistics struct{ sum, squares, largest []float64 }

func newEdgeRowStatistics(d int) edgeRowStatistics {
	r := rows(3, d)
	return edgeRowStatistics{r[0], r[1], r[2]}
}

func (r edgeRowStatistics) add(i int, v float64) {
	r.sum[i] += v
	r.squares[i] += v * v
	r.largest[i] = max(r.largest[i], v)
}

// edgeTable prepares the features named of a problem.
func (m *Model) edgeTable(ctx context.Context, engine dense.Engine, inputs []Feature, p solver.Problem, theta, z *dense.Sym) (*edgeTable, error) {
	d := p.S.Len()
	t := &edgeTable{d: d, threads: dense.Threads(engine), samples: float64(p.Samples), s: p.S, theta: theta, z: z}
	if p.Samples == 0 {
		t.samples = likelySamples(p.S)
	}
	t.rootSamples = math.Sqrt(t.samples)
	t.perS, t.perTheta, t.perShrunk = make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range d {
		t.perS[i] = 1 / math.Sqrt(p.S.At(i, i))
		t.perTheta[i] = 1 / math.Sqrt(theta.At(i, i))
	}
	t.correlation, t.partial, t.shrunkRow = newEdgeRowStatistics(d), newEdgeRowStatistics(d), newEdgeRowStatistics(d)
	fourth := make([]float64, d)
	err := t.eachPiece(ctx, func(_, i int) {
		s, a := p.S.Row(i), theta.Row(i)
		for j := range d {
			if j == i {
				continue
			}
			r := min(math.Abs(s[j])*t.perS[i]*t.perS[j], 1)
			t.correlation.add(i, r)
			fourth[i] += r * r * r * r
			t.partial.add(i, min(math.Abs(a[j])*t.perTheta[i]*t.perTheta[j], 1))
		}
	})
	if err != nil {
		return nil, err
	}
	if err := t.shrink(ctx, engine); err != nil {
		return nil, err
	}
	t.summarise(fourth)
	for _, name := range inputs {
		if edgeFeatureOf(name).score {
			t.gain = softplus(m.Cells[len(m.Cells)-1].Step)
			t.score, err = inverse(ctx, engine, theta)
			return t, err
		}
	}
	return t, nil
}

// shrink inverts the shrunk correlation.
func (t *edgeTable) shrink(ctx context.Context, engine dense.Engine) error {
	d := t.d
	t.shrinkage = oas(float64(d)+floats.Sum(t.correlation.squares), t.samples, d)
	a := dense.NewSym(d, nil)
	err := t.eachPiece(ctx, func(_, i int) {
		to := a.Row(i)
		for j, v := range t.s.Row(i) {
			lo, hi := min(i, j), max(i, j)
			to[j] = (1 - t.shrinkage) * v * t.perS[lo] * t.perS[hi]
		}
		to[i] = 1
	})
	if err != nil {
		return err
	}
	if t.shrunk, err = inverse(ctx, engine, a); err != nil {
		return err
	}
	if t.shrunk == nil { // S is not quite positive semidefinite
		t.shrunk = dense.Identity(d)
	}
	for i := range d {
		t.perShrunk[i] = 1 / rootOr(t.shrunk.At(i, i), 1)
	}
	return t.eachPiece(ctx, func(_, i int) {
		for j, v := range t.shrunk.Row(i) {
			if j != i {
				t.shrunkRow.add(i, min(math.Abs(v)*t.perShrunk[i]*t.perShrunk[j], 1))
			}
		}
	})
}

// summarise fills in what is of the table.
func (t *edgeTable) summarise(fourth []float64) {
	d := float64(t.d)
	if t.d < 2 {
		return // no pair will ask
	}
	pairs := d * (d - 1)
	second := floats.Sum(t.correlation.squares) / pairs
	t.meanSquare = t.samples * second
	t.kurtosis = 3
	if second > 0 {
		t.kurtosis = floats.Sum(fourth) / pairs / (second * second)
	}
	var mean, square float64
	for i, v := range t.correlation.squares {
		a := math.Log1p(v)
		mean += a / d
		square += a * a / d
		t.crest = max(t.crest, a)
		l := t.shrunkRow.largest[i]
		t.largest = max(t.largest, t.samples*l*l)
	}
	t.crest -= mean
	t.shrunk0 = make([]float64, t.d)
	var f4, f2 float64
	for i := range t.d {
		t.shrunk0[i] = t.shrunk.At(i,i)
		t.meanInfo += math.Log(t.shrunk0[i])/d
		for j, v := range t.shrunk.Row(i) {
			if j != i {
				l := v*t.perShrunk[i]*t.perShrunk[j]
				f2 += l*l
				f4 += l*l*l*l
			}
		}
	}
	f2 /= pairs
	f4 /= pairs
	t.shrunkSquare = t.samples*f2
	t.shrunkKurt = 3
	if f2 > 0 { t.shrunkKurt = f4/(f2*f2) }
	t.spread = math.Sqrt(max(0, square-mean*mean))
}

// edgePairs are the pairs of row i and the columns from on, in absolute values.
type edgePairs struct {
	i, from                         int
	correlation, partial, shrunk, z []float64
	// odds is the logarithm of the odds of the gate of the last cell.
	odds []float64
}

func newEdgePairs(n int) edgePairs {
	r := rows(5, n)
	return edgePairs{correlation: r[0], partial: r[1], shrunk: r[2], z: r[3], odds: r[4]}
}

// load makes e the pairs i < from ≤ j < to of row i.
func (t *edgeTable) load(e *edgePairs, i, from, to int) {
	e.i, e.from = i, from
	s, theta, z, shrunk := t.s.Row(i), t.theta.Row(i), t.z.Row(i), t.shrunk.Row(i)
	for j := from; j < to; j++ {
		k, per := j-from, t.perTheta[i]*t.perTheta[j]
		e.correlation[k] = min(math.Abs(s[j])*t.perS[i]*t.perS[j], 1)
		e.partial[k] = min(math.Abs(theta[j])*per, 1)
		e.z[k] = min(math.Abs(z[j])*per, 1)
		e.shrunk[k] = min(math.Abs(shrunk[j])*t.perShrunk[i]*t.perShrunk[j], 1)
		if t.score == nil {
			e.odds[k] = logOdds(math.Abs(z[j]), math.Abs(theta[j]))
			continue
		}
		score := t.score.At(i, j)
		u := theta[j] + t.gain*(score-s[j])/t.score.At(i, i)/t.score.At(j, j)
		e.odds[k] = logOdds(math.Abs(z[j]), math.Abs(u))
	}
}

// logOdds is log(p/(1 − p)) of p = part/whole, between −oddsBound and oddsBound.
func logOdds(part, whole float64) float64 {
	if !(part > 0) {
		return -oddsBound
	}
	rest := whole - part
	if !(rest > 0) {
		return oddsBound
	}
	return max(-oddsBound, min(oddsBound, math.Log(part/rest)))
}

const oddsBound = 8
