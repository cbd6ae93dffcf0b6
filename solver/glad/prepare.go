package glad

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver/dense"
)

// A Preparation is what the cells of a problem need of the scaled S besides its
// entries. It is computed in host memory, once.
type Preparation struct {
	// Shape is what the recursion of λ needs.
	Shape Shape
	// Nodes are n(i) of NodeContext: 3 times log Σj Rij², without its mean.
	Nodes []float64
	// RootSamples is √M of ZScore, where M is not known that of the guess which
	// the feature describes. It is 0 where no network needs it.
	RootSamples float64
}

// Prepare is the preparation of a scaled S; samples is M, or 0.
func (p *Plan) Prepare(s *dense.Sym, samples int) Preparation {
	of := connect(s)
	q := Preparation{
		Shape: Shape{Dimension: s.Len(), Norm: norm(s), Context: of.context},
		Nodes: of.nodes, RootSamples: math.Sqrt(float64(samples)),
	}
	mean := floats.Sum(q.Nodes) / float64(len(q.Nodes))
	for i, a := range q.Nodes {
		q.Nodes[i] = nodeContextScale * (a - mean)
	}
	m := float64(samples)
	if samples == 0 && p.samples {
		m = likelySamples(s)
		q.RootSamples = math.Sqrt(m)
	}
	q.Shape.Table = of.table(q.Nodes, m)
	return q
}

// needsSamples says whether a network has a feature that needs M.
func (m *Model) needsSamples() bool {
	networks := []Network{m.Rho, m.Lambda}
	for _, c := range m.Cells {
		networks = append(networks, c.Network)
	}
	return slices.ContainsFunc(networks, func(n Network) bool {
		return slices.ContainsFunc(n.Inputs, func(f Feature) bool { return featureOf(f).samples })
	})
}

// rowsAtOnce is how many rows are one piece of work below.
const rowsAtOnce = 64

// eachRow calls f for every row of a, from several goroutines where there are many.
// worker is that of the goroutine, less than dense.Cores().
func eachRow(a *dense.Sym, f func(worker, i int, row []float64)) {
	d := a.Len()
	workers := 1
	if d >= 8*rowsAtOnce { // smaller ones come many at a time
		workers = dense.Cores()
	}
	pieces := (d + rowsAtOnce - 1) / rowsAtOnce
	_ = dense.Each(context.Background(), pieces, workers, func(worker, piece int) error {
		for i := piece * rowsAtOnce; i < min(d, (piece+1)*rowsAtOnce); i++ {
			f(worker, i, a.Row(i))
		}
		return nil
	})
}

// A connectedness says how strongly the variables of S correlate.
type connectedness struct {
	nodes []float64 // a(i) = log Σ_j Rij², R the correlation matrix
	// context is the feature of that name.
	context float64
	// second and fourth are the means over the pairs of Rij² and of Rij⁴.
	second, fourth float64
}

func connect(a *dense.Sym) connectedness {
	f := deviations(a)
	c := connectedness{nodes: make([]float64, len(f))}
	moments := rows(2, len(f))
	eachRow(a, func(_, i int, row []float64) {
		var sum, second, fourth float64
		for j, v := range row {
			r := v / (f[i] * f[j])
			sum += r * r
			if j != i {
				second += r * r
				fourth += r * r * r * r
			}
		}
		c.nodes[i], moments[0][i], moments[1][i] = sum, second, fourth
	})
	if pairs := float64(len(f)) * float64(len(f)-1); pairs > 0 {
		c.second, c.fourth = floats.Sum(moments[0])/pairs, floats.Sum(moments[1])/pairs
	}
	c.context = math.Log(floats.Sum(c.nodes) / float64(len(f)))
	for i, row := range c.nodes {
		c.nodes[i] = math.Log(row)
	}
	return c
}

// norm is the largest absolute row sum, which no eigenvalue exceeds.
func norm(a *dense.Sym) float64 {
	sums := make([]float64, a.Len())
	eachRow(a, func(_, i int, row []float64) {
		for _, v := range row {
			sums[i] += math.Abs(v)
		}
	})
	var largest float64
	for _, sum := range sums {
		largest = max(largest, sum)
	}
	return largest
}

// likelySamples guesses M from a covariance, as if half of the pairs of
// variables were independent: M·Rij² of such a pair is about chi-square with one
// degree of freedom.
func likelySamples(a *dense.Sym) float64 {
	const (
		median      = 0.4549 // of chi-square with one degree of freedom
		least, most = 2, 1e6
	)
	d := a.Len()
	if d < 2 {
		return most // there is no pair
	}
	return min(max(median/medianSquare(a, d*(d-1)/2), least), most)
}

// medianSquare is the middle one of the n values Rij², i < j, the upper one of two.
// They are not negative, so that their bits are in their order: it counts by the
// upper bits, and sorts those alone that have the same ones as the median.
func medianSquare(a *dense.Sym, n int) float64 {
	const lower = 50 // bits
	deviation := deviations(a)
	each := func(f func(worker int, square float64)) {
		eachRow(a, func(worker, i int, row []float64) {
			for j := i + 1; j < len(row); j++ {
				r := row[j] / (deviation[i] * deviation[j])
				f(worker, r*r)
			}
		})
	}
	counts := make([][1 << (64 - lower)]int, dense.Cores())
	each(func(worker int, square float64) { counts[worker][math.Float64bits(square)>>lower]++ })
	left, upper := n/2, 0
	for ; ; upper++ {
		var here int
		for w := range counts {
			here += counts[w][upper]
		}
		if left < here {
			break
		}
		left -= here
	}
	same := make([][]float64, len(counts))
	each(func(worker int, square float64) {
		if math.Float64bits(square)>>lower == uint64(upper) {
			same[worker] = append(same[worker], square)
		}
	})
	all := slices.Concat(same...)
	slices.Sort(all)
	return all[left]
}
