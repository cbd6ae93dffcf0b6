// Package tune chooses the parameters of classical solvers on validation graphs,
// whose precision matrices are known, so that learned solvers are compared with
// them at their best: the penalty ρ of the graphical lasso; ρ, λ and the number
// of iterations of ADMM; and, for any solver, the threshold below which an
// entry is no edge.
//
//	r, err := tune.GraphicalLasso(ctx, validation, tune.Settings{})
//	if err != nil {
//		return err
//	}
//	fmt.Println(r.Best) // ρ 0.186: −9.11 ± 0.05 dB, on 20 graphs
//
// What is chosen here on one set of graphs is reported on another one. A penalty
// for data without a known network is chosen by package selection.
package tune

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// An Objective is the figure by which parameters are chosen.
type Objective string

// Objectives.
const (
	// NMSE is the paper's normalised mean square error of Z in dB, the lower the
	// better: metric.NMSE.Decibels.
	NMSE Objective = "nmse"
	// StrictSuccess is the share of graphs whose signs are all right, zeros
	// included, after the threshold that suits most graphs: metric.SuccessStrict.
	StrictSuccess Objective = "strict-ps"
)

// A Point is one choice of parameters with its figures.
type Point struct {
	// Rho is the penalty, Lambda the quadratic penalty of ADMM, Iterations the
	// number of its iterations; the latter two are 0 for a converged solver.
	Rho, Lambda float64
	Iterations  int
	// Diagonal is set where the diagonal was penalised too.
	Diagonal bool
	// Threshold is the best one for StrictSuccess, 0 otherwise.
	Threshold float64
	// Value is the objective over all cases, StandardError its error.
	Value, StandardError float64
	// Refined is set for points of the search that follows the grid.
	Refined bool

	// margin separates points of equal success, see Threshold.
	margin float64
}

// String is one line for people.
func (p Point) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ρ %.4g", p.Rho)
	if p.Lambda != 0 {
		fmt.Fprintf(&b, ", λ %.4g", p.Lambda)
	}
	if p.Iterations != 0 {
		fmt.Fprintf(&b, ", %d iterations", p.Iterations)
	}
	if p.Diagonal {
		b.WriteString(", diagonal penalised")
	}
	if p.Threshold != 0 {
		fmt.Fprintf(&b, ", threshold %.4g", p.Threshold)
	}
	fmt.Fprintf(&b, ": %.4g ± %.2g", p.Value, p.StandardError)
	return b.String()
}

// A Result is a tuning, with everything that it tried.
type Result struct {
	// Objective is what was tuned.
	Objective Objective
	// Cases is the number of graphs.
	Cases int
	// Best is the point of the best value; of equals, the one tried first.
	Best Point
	// Points are all points in the order in which they were tried.
	Points []Point
}

// Settings are those of every tuning. The zero value of a field is its default.
type Settings struct {
	// Objective is what is tuned. Default: NMSE.
	Objective Objective
	// Low and High are the ends of the grid of ρ, in units of S. The grid is
	// continued where its best point is its first or last. Default (both 0):
	// 0.02 and 0.6.
	Low, High float64
	// Points is the number of penalties in the grid, even on a logarithmic
	// scale. Default (0): 8.
	Points int
	// Diagonal penalises the diagonal of Θ as well. Default: off-diagonal
	// entries only.
	Diagonal bool
	// Tolerance is the width in log ρ at which the refinement ends. Default
	// (0): 0.02, that is two per cent.
	Tolerance float64
	// Workers bounds the graphs that are worked on at a time. Default (0): as
	// many as Go uses processors. It does not change the result.
	Workers int
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
	// OnPoint, if set, is called with every point as it is finished.
	OnPoint func(Point)
}

func (s Settings) resolved() (Settings, error) {
	if s.Objective == "" {
		s.Objective = NMSE
	}
	if s.Low == 0 && s.High == 0 {
		s.Low, s.High = 0.02, 0.6
	}
	if s.Points == 0 {
		s.Points = 8
	}
	if s.Tolerance == 0 {
		s.Tolerance = 0.02
	}
	switch {
	case s.Objective != NMSE && s.Objective != StrictSuccess:
		return s, fmt.Errorf("the objective %q is unknown; choose %s or %s", s.Objective, NMSE, StrictSuccess)
	case !(s.Low > 0 && s.High > s.Low) || math.IsInf(s.High, 1):
		return s, fmt.Errorf("the grid goes from %v to %v; it must begin above zero and end higher", s.Low, s.High)
	case s.Points < 3:
		return s, fmt.Errorf("a grid of %d penalties; it takes at least 3", s.Points)
	case !(s.Tolerance > 0):
		return s, fmt.Errorf("the tolerance is %v; it must be positive", s.Tolerance)
	}
	return s, nil
}

func validate(cases []solver.Example) error {
	if len(cases) == 0 {
		return errors.New("there is no validation graph; give at least one")
	}
	for i, c := range cases {
		if err := c.Problem().Validate(); err != nil {
			return fmt.Errorf("graph %d: %w", i, err)
		}
		if c.Truth == nil || c.Truth.Len() != c.S.Len() {
			return fmt.Errorf("graph %d has no precision matrix of the %d variables of its covariance", i, c.S.Len())
		}
	}
	return nil
}

// evaluate fills in the figures of p from the estimates of all cases.
func evaluate(p Point, o Objective, estimates []*dense.Sym, cases []solver.Example) (Point, error) {
	if o == StrictSuccess {
		r, err := Threshold(estimates, cases)
		if err != nil {
			return p, err
		}
		p.Threshold, p.Value, p.StandardError, p.margin = r.Threshold, r.Success, r.StandardError, r.margin
		return p, nil
	}
	var n metric.NMSE
	for i, z := range estimates {
		if err := n.Add(z, cases[i].Truth); err != nil {
			return p, fmt.Errorf("graph %d: %w", i, err)
		}
	}
	var err error
	p.Value, p.StandardError, err = n.Decibels()
	return p, err
}

// better reports whether p is to be preferred to q.
func (o Objective) better(p, q Point) bool {
	if o == NMSE {
		return p.Value < q.Value
	}
	if p.Value != q.Value {
		return p.Value > q.Value
	}
	return p.margin > q.margin
}

// cost is a number that is the lower the better, for a search along a line. A
// success rate has steps; the margin, bounded by marginLimit, gives them slope.
func (o Objective) cost(p Point) float64 {
	if o == NMSE {
		return p.Value
	}
	return -p.Value - p.margin/(4*marginLimit)
}
