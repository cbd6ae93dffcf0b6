package glasso

import (
	"context"
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestPath(t *testing.T) {
	rows := irisRows(0, 150)
	p := solver.Problem{S: covarianceOf(rows, 0), Samples: len(rows)}
	var seen int
	r, err := Path(t.Context(), p, PathSettings{Settings: Settings{Gap: 1e-13}, OnPoint: func(PathPoint) { seen++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 10 || seen != 10 {
		t.Fatalf("%d points, %d seen, want 10", len(r.Points), seen)
	}
	first, last := r.Points[0], r.Points[9]
	if first.Edges != 0 || first.Penalty != p.S.At(0, 2) && first.Penalty != p.S.At(2, 3) {
		t.Errorf("the path begins at %+v, want no edge at the largest covariance", first)
	}
	if math.Abs(last.Penalty/first.Penalty-0.1) > 1e-12 {
		t.Errorf("the path ends at %v of its beginning, want 0.1", last.Penalty/first.Penalty)
	}
	for k, pt := range r.Points {
		cold, err := BCD{Settings{Penalty: Penalty{Rho: pt.Penalty}, Gap: 1e-13}}.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		logdet, _ := dense.NewWorkspace(dense.Gonum{}, 4).LogDet(cold.Precision, make([]float64, 16))
		loglik := 75 * (logdet - p.S.Dot(cold.Precision))
		want := -2*loglik + float64(cold.Edges())*(math.Log(150)+2*math.Log(4))
		if math.Abs(pt.EBIC-want) > 1e-4 { // the likelihood is free by √gap·M
			t.Errorf("point %d: EBIC %v, want %v", k, pt.EBIC, want)
		}
		if pt.EBIC < r.Points[r.Best].EBIC {
			t.Errorf("point %d has a smaller EBIC than the best", k)
		}
	}
	if got := r.Estimate.Edges(); got != r.Points[r.Best].Edges {
		t.Errorf("the estimate has %d edges, its point %d", got, r.Points[r.Best].Edges)
	}
}

func TestPathOfUncorrelated(t *testing.T) {
	r, err := Path(t.Context(), solver.Problem{S: dense.Identity(3), Samples: 10}, PathSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 1 || r.Points[0].Edges != 0 {
		t.Errorf("points %+v, want one without edges", r.Points)
	}
}

func TestPathRefuses(t *testing.T) {
	s := dense.Identity(3)
	for name, c := range map[string]struct {
		p solver.Problem
		s PathSettings
	}{
		"no samples":     {solver.Problem{S: s}, PathSettings{}},
		"ratio":          {solver.Problem{S: s, Samples: 9}, PathSettings{Ratio: 1}},
		"points":         {solver.Problem{S: s, Samples: 9}, PathSettings{Points: -1}},
		"gamma":          {solver.Problem{S: s, Samples: 9}, PathSettings{Gamma: 2}},
		"penalty matrix": {solver.Problem{S: s, Samples: 9}, PathSettings{Settings: Settings{Penalty: Penalty{Matrix: s}}}},
		"covariance":     {solver.Problem{S: dense.NewSym(2, nil), Samples: 9}, PathSettings{}},
	} {
		if _, err := Path(t.Context(), c.p, c.s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPathInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := solver.Problem{S: covarianceOf(irisRows(0, 150), 0), Samples: 150}
	r, err := Path(ctx, p, PathSettings{OnPoint: func(p PathPoint) {
		if p.Edges > 0 {
			cancel()
		}
	}})
	if err == nil || len(r.Points) == 0 || len(r.Points) > 9 {
		t.Errorf("%v with %d points, want the points before the cancellation and its error", err, len(r.Points))
	}
}
