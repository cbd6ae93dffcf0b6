package solver_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestScore(t *testing.T) {
	theta := dense.NewSym(3, []float64{
		4e200, -1e200, 0,
		-1e200, 1e200, 2e-100,
		0, 2e-100, 1e-300,
	})
	est := &solver.Estimate{Precision: theta, Support: theta}
	for _, c := range []struct {
		i, j int
		want float64
	}{
		{0, 1, 0.5}, // Θii·Θjj overflows
		{1, 0, 0.5},
		{1, 2, -2e-50}, // Θii·Θjj is tiny
		{0, 2, 0},
	} {
		got := est.PartialCorrelation(c.i, c.j)
		if math.Abs(got-c.want) > 1e-15*math.Abs(c.want) || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("partial correlation of %d and %d is %v, want %v", c.i, c.j, got, c.want)
		}
		if est.Score(c.i, c.j) != math.Abs(got) {
			t.Errorf("score of %d and %d is %v", c.i, c.j, est.Score(c.i, c.j))
		}
	}
	if n := est.Edges(); n != 2 {
		t.Errorf("%d edges, want 2", n)
	}
}

// A pair and its reverse tie in a ranking of ordered pairs, whatever rounding
// does to their diagonals.
func TestScoreIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const d = 30
	theta := dense.NewSym(d, nil)
	for i := range d {
		for j := range i {
			theta.Set(i, j, rng.NormFloat64())
		}
		theta.Set(i, i, 10*rng.Float64()+1)
	}
	est := &solver.Estimate{Precision: theta}
	for i := range d {
		for j := range i {
			if est.Score(i, j) != est.Score(j, i) {
				t.Fatalf("score of (%d,%d) is %v, of the reverse %v", i, j, est.Score(i, j), est.Score(j, i))
			}
		}
	}
}

func TestRelativeGap(t *testing.T) {
	for _, c := range []struct {
		gap, objective float64
		d              int
		want           float64
	}{{1, 0.5, 10, 0.1}, {1, -100, 10, 0.01}, {0, 0, 1, 0}} {
		if got := solver.RelativeGap(c.gap, c.objective, c.d); got != c.want {
			t.Errorf("gap %v at objective %v of %d variables: %v, want %v", c.gap, c.objective, c.d, got, c.want)
		}
	}
}

func TestStatus(t *testing.T) {
	want := map[solver.Status]error{
		solver.NotTerminated:  solver.ErrNotTerminated,
		solver.Converged:      nil,
		solver.Completed:      nil,
		solver.IterationLimit: solver.ErrIterationLimit,
		solver.Interrupted:    solver.ErrInterrupted,
		solver.Stalled:        solver.ErrStalled,
		solver.Unbounded:      solver.ErrUnbounded,
	}
	names := map[string]bool{}
	for s, err := range want {
		if !errors.Is(s.Err(), err) {
			t.Errorf("%v: error %v, want %v", s, s.Err(), err)
		}
		names[s.String()] = true
	}
	if len(names) != len(want) {
		t.Errorf("statuses share names: %v", names)
	}
	if solver.Status(99).Err() == nil || solver.Status(-1).String() == "" {
		t.Error("an unknown status passes for a good one")
	}
}

func TestValidate(t *testing.T) {
	with := func(i, j int, v float64) *dense.Sym {
		s := dense.Identity(3)
		s.Set(i, j, v)
		return s
	}
	for name, c := range map[string]struct {
		p  solver.Problem
		ok bool
	}{
		"good":             {solver.Problem{S: dense.Identity(3)}, true},
		"tiny variance":    {solver.Problem{S: with(1, 1, 1e-300)}, true},
		"nothing":          {solver.Problem{}, false},
		"no variables":     {solver.Problem{S: dense.NewSym(0, nil)}, false},
		"negative samples": {solver.Problem{S: dense.Identity(3), Samples: -1}, false},
		"NaN":              {solver.Problem{S: with(0, 1, math.NaN())}, false},
		"infinity":         {solver.Problem{S: with(0, 1, math.Inf(1))}, false},
		"zero variance":    {solver.Problem{S: with(2, 2, 0)}, false},
	} {
		if err := c.p.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
