package train

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gladflow/gladflow/solver/association/ranking"
)

// Scored is a table that a model has scored.
type Scored struct {
	Variables, Samples int
	// Scores and Edge have a value for each of its pairs.
	Scores []float64
	Edge   []bool
}

// ErrUncertain says that no probabilities could be fitted.
var ErrUncertain = errors.New("train: no probabilities could be fitted: the scores do not tell edges from other pairs")

// Calibrate fits the probabilities of a model by logistic regression, to all pairs of
// tables that its weights have not seen; tables count alike, whatever their size.
func Calibrate(tables []Scored) (ranking.Probability, error) {
	const terms = 4
	beta := mat.NewVecDense(terms, nil)
	hessian, gradient := mat.NewSymDense(terms, nil), mat.NewVecDense(terms, nil)
	x := mat.NewVecDense(terms, nil)
	var p ranking.Probability
	const steps = 100
	for range steps {
		hessian.Zero()
		gradient.Zero()
		for i := range terms {
			hessian.SetSym(i, i, 1e-9) // tables may all be of one size
		}
		for _, t := range tables {
			w := 1 / float64(len(tables)*max(1, len(t.Scores)))
			for i, score := range t.Scores {
				of := p.Terms(score, t.Variables, t.Samples)
				x.SetVec(0, 1)
				for k, v := range of {
					x.SetVec(1+k, v)
				}
				q := 1 / (1 + math.Exp(-mat.Dot(x, beta)))
				y := 0.0
				if t.Edge[i] {
					y = 1
				}
				gradient.AddScaledVec(gradient, w*(y-q), x)
				hessian.SymRankOne(hessian, w*q*(1-q), x)
			}
		}
		var cholesky mat.Cholesky
		step := mat.NewVecDense(terms, nil)
		if !cholesky.Factorize(hessian) || cholesky.SolveVecTo(step, gradient) != nil {
			return p, ErrUncertain
		}
		// A step of Newton's is bounded: the first ones may be too long.
		if n := mat.Norm(step, 2); n > 2 {
			step.ScaleVec(2/n, step)
		}
		beta.AddVec(beta, step)
		p = ranking.Probability{Intercept: beta.AtVec(0), Score: beta.AtVec(1), Variables: beta.AtVec(2), Samples: beta.AtVec(3)}
		if mat.Norm(step, 2) < 1e-9 {
			if !(p.Score > 0) {
				break
			}
			return p, nil
		}
	}
	return ranking.Probability{}, ErrUncertain
}

// A Bin is the pairs whose probabilities are in an interval.
type Bin struct {
	// Pairs counts them; Said is the mean of their probabilities, and Held the part
	// of them that are edges, tables counting alike.
	Pairs      int
	Said, Held float64
	weight     float64
}

// Calibration says how well probabilities hold: the pairs in ten bins of equal width,
// and the expected calibration error, Σ |Said − Held| weighted as the bins are.
func Calibration(p ranking.Probability, tables []Scored) (bins [10]Bin, expectedError float64) {
	for _, t := range tables {
		w := 1 / float64(len(tables)*max(1, len(t.Scores)))
		for i, score := range t.Scores {
			q := p.Of(score, t.Variables, t.Samples)
			b := &bins[min(len(bins)-1, int(q*float64(len(bins))))]
			b.Pairs++
			b.weight += w
			b.Said += w * q
			if t.Edge[i] {
				b.Held += w
			}
		}
	}
	for i := range bins {
		b := &bins[i]
		if b.weight == 0 {
			continue
		}
		expectedError += math.Abs(b.Said - b.Held)
		b.Said /= b.weight
		b.Held /= b.weight
	}
	return bins, expectedError
}
