package adapt

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// statisticNames are what Statistics returns, in its order.
var statisticNames = []string{
	"log d", "log d/M",
	"log mean M R^2", "log kurtosis of R", "spread of rows of R", "largest row of R", "skewness of rows of R",
	"log mean M P^2", "log kurtosis of P", "spread of rows of P", "largest row of P", "skewness of rows of P",
	"triangles of P", "squares of P", "sign of P", "log det per d", "smallest eigenvalue",
	"spread of variances", "variance and row", "variance and skewness",
}

// Statistics say what a table is like: numbers that depend neither on the order of the
// variables nor on their units in common. S is the covariance or correlation, M the
// number of samples behind it, Θ a positive definite estimate for S: R is the correlation
// of S, and P the partial correlations of Θ. Where M is not known, 0, it is taken for d.
//
// They are the logarithms of d and of d/M; of R and P off the diagonal the logarithm of
// M times the mean square, and of the kurtosis, and of the sums of squares of the rows
// the spread, the largest against the mean, and the skewness of the logarithms; the share
// of triangles and squares in P; the mean sign of the large entries of P; log det and the
// smallest eigenvalue of Θ, standardised; and of the logarithms of the variances the spread
// beyond that of chance, how it goes with the rows of P, and the skewness.
func Statistics(ctx context.Context, p solver.Problem, theta *dense.Sym, engine dense.Engine) ([]float64, error) {
	d := p.S.Len()
	m := float64(p.Samples)
	if m == 0 {
		m = float64(d)
	}
	r, deviations := correlation(p.S)
	partial := theta.Clone()
	root := make([]float64, d)
	for i := range d {
		root[i] = math.Sqrt(theta.At(i, i))
	}
	rescale(partial, root)
	stats := []float64{math.Log(float64(d)), math.Log(float64(d) / m)}
	for _, a := range []*dense.Sym{r, partial} {
		stats = append(stats, entries(a, m)...)
	}
	var values []float64
	var triangles, squares, logdet float64
	err := dense.Await(ctx, func() {
		triangles, squares = cycles(partial, engine)
		values = make([]float64, d)
		vectors := make([]float64, d*d)
		standard := theta.Clone()
		for i := range d {
			for j := range d {
				standard.Row(i)[j] *= deviations[i] * deviations[j]
			}
		}
		if e := dense.NewWorkspace(engine, d).Eigen(standard, values, vectors); e != nil {
			values = nil
		}
	})
	if err != nil {
		return nil, err
	}
	if values == nil {
		return nil, fmt.Errorf("the estimate has no eigenvalues: %w", dense.ErrEigen)
	}
	for _, v := range values {
		logdet += math.Log(math.Max(v, tiny)) / float64(d)
	}
	stats = append(stats, triangles, squares, sign(partial), logdet, math.Log(math.Max(values[0], tiny)))
	stats = append(stats, variances(deviations, partial, m)...)
	for i, v := range stats {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			stats[i] = 0
		}
	}
	return stats, nil
}

// tiny keeps logarithms finite.
const tiny = 1e-12

// entries are the statistics of the entries off the diagonal and of the rows.
func entries(a *dense.Sym, m float64) []float64 {
	d := a.Len()
	rows := make([]float64, d)
	var second, fourth float64
	for i := range d {
		for j, v := range a.Row(i) {
			if i != j {
				rows[i] += v * v
				fourth += v * v * v * v
			}
		}
		second += rows[i]
	}
	pairs := math.Max(1, float64(d)*float64(d-1))
	second, fourth = second/pairs, fourth/pairs
	for i, v := range rows {
		rows[i] = math.Log(v + 1/m) // below is chance
	}
	mean, spread, skewness := moments(rows)
	return []float64{
		math.Log(m*second + tiny), math.Log((fourth + tiny*tiny) / (second*second + tiny*tiny)),
		spread, slices.Max(rows) - mean, skewness,
	}
}

// moments are the mean, the standard deviation and the skewness.
func moments(x []float64) (mean, spread, skewness float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	var third float64
	for _, v := range x {
		spread += (v - mean) * (v - mean) / n
		third += (v - mean) * (v - mean) * (v - mean) / n
	}
	spread = math.Sqrt(spread)
	if spread < 1e-9 {
		return mean, spread, 0
	}
	return mean, spread, third / (spread * spread * spread)
}

// cycles are the logarithms of the shares of triangles and of squares among walks of two
// and of three steps, weighted by P².
func cycles(p *dense.Sym, engine dense.Engine) (triangles, squares float64) {
	d := p.Len()
	w := dense.NewSym(d, nil)
	rows := make([]float64, d)
	for i := range d {
		for j, v := range p.Row(i) {
			if i != j {
				w.Row(i)[j] = v * v
				rows[i] += v * v
			}
		}
	}
	two := make([]float64, d*d)
	engine.Gemm(false, false, d, d, d, 1, w.Raw(), d, w.Raw(), d, 0, two, d)
	var closed3, closed4, walks2, walks3 float64
	for i := range d {
		walks2 += rows[i] * rows[i]
		for j, v := range w.Row(i) {
			closed3 += two[i*d+j] * v
			walks3 += rows[i] * v * rows[j]
			if i != j { // not there and back
				closed4 += two[i*d+j] * two[i*d+j]
			}
		}
	}
	return math.Log((closed3 + tiny) / (walks3 + tiny)), math.Log((closed4 + tiny) / (walks2*walks2/float64(d) + tiny))
}

// sign is the mean sign of the entries off the diagonal, weighted by their squares.
func sign(p *dense.Sym) float64 {
	var sum, all float64
	for i := range p.Len() {
		for j, v := range p.Row(i) {
			if i != j {
				sum += v * math.Abs(v)
				all += v * v
			}
		}
	}
	return sum / (all + tiny)
}

// variances are the statistics of the logarithms of the variances.
func variances(deviations []float64, p *dense.Sym, m float64) []float64 {
	d := len(deviations)
	logs, rows := make([]float64, d), make([]float64, d)
	for i, s := range deviations {
		logs[i] = 2 * math.Log(s)
		for j, v := range p.Row(i) {
			if i != j {
				rows[i] += v * v
			}
		}
	}
	mean, spread, skewness := moments(logs)
	rowMean, rowSpread, _ := moments(rows)
	var along float64
	for i := range logs {
		along += (logs[i] - mean) * (rows[i] - rowMean) / float64(d)
	}
	if spread < 1e-9 {
		return []float64{0, 0, 0} // standardised
	}
	return []float64{math.Log(spread * spread * m / 2), along / (spread*rowSpread + tiny), skewness}
}
