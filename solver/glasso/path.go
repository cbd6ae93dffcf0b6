package glasso

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gladflow/gladflow/solver"
)

// PathSettings are those of Path.
type PathSettings struct {
	// Settings are those of every solution on the path. Of the Penalty only
	// Diagonal counts.
	Settings
	// Points is the number of penalties. Default (0): 10.
	Points int
	// Ratio is the smallest penalty over the largest, which is max|Sij|, i ≠ j,
	// the least that leaves no edge. Default (0): 0.1.
	Ratio float64
	// Gamma is γ of the extended BIC, in [0, 1]. Default (0): 0.5. For γ = 0,
	// the ordinary BIC, set BIC.
	Gamma float64
	// BIC sets γ = 0.
	BIC bool
	// OnPoint, if set, is called with every point as it is finished.
	OnPoint func(PathPoint)
}

// A PathPoint is the solution for one penalty, with its criterion.
type PathPoint struct {
	Penalty float64 `json:"penalty"`
	// Edges is the number of unordered pairs in the support.
	Edges int `json:"edges"`
	// LogLikelihood is (M/2)(log det Θ − tr(SΘ)), in nats, without its
	// constant.
	LogLikelihood float64 `json:"log_likelihood"`
	// EBIC is −2·LogLikelihood + Edges·log M + 4γ·Edges·log d.
	EBIC       float64       `json:"ebic"`
	Status     solver.Status `json:"-"`
	Iterations int           `json:"iterations"`
	// Gap is the relative duality gap.
	Gap     float64       `json:"gap"`
	Elapsed time.Duration `json:"-"`
}

// PathResult is a path of penalties, the largest first.
type PathResult struct {
	// Best indexes the point of least EBIC; of equals, the sparsest.
	Best   int
	Points []PathPoint
	// Estimate is the solution at the best point.
	Estimate *solver.Estimate
}

// Path solves the graphical lasso by BCD for penalties from the smallest that
// leaves no edge downwards, evenly spaced on a logarithmic scale, each started
// from the one before, and computes the extended Bayesian information criterion of each (Foygel, Drton 2010). p.Samples must be known.
//
// When ctx ends first, Path returns what is finished together with ctx's
// error.
func Path(ctx context.Context, p solver.Problem, s PathSettings) (*PathResult, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Samples < 2 {
		return nil, errors.New("the extended BIC needs the number of samples")
	}
	gamma, err := s.gamma()
	if err != nil {
		return nil, err
	}
	penalties, err := s.penalties(p)
	if err != nil {
		return nil, err
	}
	d := float64(p.S.Len())
	m := float64(p.Samples)
	set := s.Settings
	r := &PathResult{}
	for _, rho := range penalties {
		set.Penalty = Penalty{Rho: rho, Diagonal: s.Penalty.Diagonal}
		est, err := BCD{set}.Solve(ctx, p)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		logdet := logDetOf(est, p, set.Penalty)
		point := PathPoint{
			Penalty:       rho,
			Edges:         est.Edges(),
			LogLikelihood: m / 2 * (logdet - p.S.Dot(est.Precision)),
			Status:        est.Status,
			Iterations:    est.Iterations,
			Gap:           est.RelativeGap(),
			Elapsed:       est.Elapsed,
		}
		e := float64(point.Edges)
		point.EBIC = -2*point.LogLikelihood + e*math.Log(m) + 4*gamma*e*math.Log(d)
		r.Points = append(r.Points, point)
		if k := len(r.Points) - 1; k == 0 || point.EBIC < r.Points[r.Best].EBIC {
			r.Best, r.Estimate = k, est
		}
		if s.OnPoint != nil {
			s.OnPoint(point)
		}
		set.Initial = est
	}
	return r, nil
}

// logDetOf is log det Θ, read off the objective.
func logDetOf(est *solver.Estimate, p solver.Problem, pen Penalty) float64 {
	sum := p.S.Dot(est.Precision)
	for i := range p.S.Len() {
		for j, v := range est.Precision.Row(i) {
			sum += pen.at(i, j) * math.Abs(v)
		}
	}
	return sum - est.Objective
}

func (s PathSettings) gamma() (float64, error) {
	switch {
	case s.BIC:
		return 0, nil
	case s.Gamma == 0:
		return 0.5, nil
	case s.Gamma > 0 && s.Gamma <= 1:
		return s.Gamma, nil
	}
	return 0, fmt.Errorf("γ of the extended BIC is %v; it must lie between 0 and 1", s.Gamma)
}

// penalties are those of the path, descending.
func (s PathSettings) penalties(p solver.Problem) ([]float64, error) {
	n, ratio := s.Points, s.Ratio
	if n == 0 {
		n = 10
	}
	if ratio == 0 {
		ratio = 0.1
	}
	if n < 1 || !(ratio > 0 && ratio < 1) {
		return nil, fmt.Errorf("a path of %d points down to %v of the largest penalty; it needs at least one point and a ratio between 0 and 1", n, ratio)
	}
	if s.Penalty.Matrix != nil {
		return nil, errors.New("a path varies one penalty; a penalty matrix cannot be given")
	}
	var largest float64
	for i := range p.S.Len() {
		for _, v := range p.S.Row(i)[:i] {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	if largest == 0 { // uncorrelated variables: no penalty changes anything
		return []float64{0}, nil
	}
	rho := make([]float64, n)
	for k := range rho {
		rho[k] = largest * math.Pow(ratio, float64(k)/math.Max(1, float64(n-1)))
	}
	return rho, nil
}
