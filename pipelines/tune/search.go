package tune

import (
	"context"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// extension bounds the points by which a grid is continued beyond either end.
const extension = 8

// A trial returns the best point at one ρ and records whatever it tries.
type trial func(rho float64, refined bool) (Point, error)

// step is the distance of neighbours in the grid, in log ρ.
func (s Settings) step() float64 { return math.Log(s.High/s.Low) / float64(s.Points-1) }

// grid tries ρ on the grid of s, from the highest down, continues it while the
// best point is at an end, and returns the best.
func (s Settings) grid(try trial) (Point, error) {
	var points []Point // descending in ρ
	at := func(rho float64) error {
		p, err := try(rho, false)
		points = append(points, p)
		return err
	}
	for k := s.Points - 1; k >= 0; k-- {
		if err := at(s.Low * math.Exp(s.step()*float64(k))); err != nil {
			return Point{}, err
		}
	}
	best := func() int {
		b := 0
		for k, p := range points {
			if s.Objective.better(p, points[b]) {
				b = k
			}
		}
		return b
	}
	// An end that is no better than its neighbour promises nothing beyond.
	better := func(i, j int) bool { return s.Objective.better(points[i], points[j]) }
	for n := 0; n < extension && best() == len(points)-1 && better(len(points)-1, len(points)-2); n++ {
		if err := at(points[len(points)-1].Rho * math.Exp(-s.step())); err != nil {
			return Point{}, err
		}
	}
	for n := 0; n < extension && best() == 0 && better(0, 1); n++ {
		if err := at(points[0].Rho * math.Exp(s.step())); err != nil {
			return Point{}, err
		}
		points = slices.Insert(points[:len(points)-1], 0, points[len(points)-1])
	}
	return points[best()], nil
}

// refine searches between the neighbours of a point of the grid.
func (s Settings) refine(winner Point, try trial) (Point, error) {
	centre := math.Log(winner.Rho)
	err := golden(centre-s.step(), centre+s.step(), s.Tolerance, func(x float64) (float64, error) {
		p, err := try(math.Exp(x), true)
		if err != nil {
			return 0, err
		}
		if s.Objective.better(p, winner) {
			winner = p
		}
		return s.Objective.cost(p), nil
	})
	return winner, err
}

// golden narrows [low, high] around a minimum of f by golden-section search
// (Kiefer 1953) until it is no wider than tolerance. f has one minimum there, or
// a local one is found.
func golden(low, high, tolerance float64, f func(x float64) (float64, error)) error {
	const ratio = 1 / math.Phi
	left, right := high-ratio*(high-low), low+ratio*(high-low)
	fl, err := f(left)
	if err != nil {
		return err
	}
	fr, err := f(right)
	if err != nil {
		return err
	}
	for high-low > tolerance {
		if fl <= fr {
			high, right, fr = right, left, fl
			left = high - ratio*(high-low)
			fl, err = f(left)
		} else {
			low, left, fl = left, right, fr
			right = low + ratio*(high-low)
			fr, err = f(right)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Each calls f with every case, at most workers at a time (0: as many as Go uses
// processors), and returns what it returns, in order. Of several errors it
// returns that of the first case; when ctx ends first, its error.
func Each[T any](ctx context.Context, cases []solver.Example, workers int, f func(i int, c solver.Example) (T, error)) ([]T, error) {
	results := make([]T, len(cases))
	err := dense.Each(ctx, len(cases), workers, func(_, i int) (err error) {
		results[i], err = f(i, cases[i])
		return err
	})
	return results, err
}
