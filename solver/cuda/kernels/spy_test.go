//go:build linux && (amd64 || arm64)

package kernels

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A spy is the CPU, and keeps what goes into the Z steps of every problem and what comes
// out.
type spy struct {
	plan  *glad.Plan
	of    []problemOf
	cells [][]zStep // by problem, then by cell
}

// problemOf is what a Z step needs of a problem.
type problemOf struct {
	s       *dense.Sym // scaled
	shape   glad.Shape
	samples int
}

type zStep struct {
	lambda, norm2           float64
	theta, z, u, newZ, newU []float64
}

func (s *spy) Name() string { return "spy" }

func (s *spy) Open(p *glad.Plan) (glad.Session, error) {
	s.plan = p
	session, err := glad.CPU{Engine: dense.Gonum{}, Workers: 1}.Open(p)
	return &spySession{session, s}, err
}

type spySession struct {
	glad.Session
	spy *spy
}

func (s *spySession) Run(ctx context.Context, problems []solver.Problem, f func(int, glad.Iterates) error) error {
	s.spy.of, s.spy.cells = make([]problemOf, len(problems)), make([][]zStep, len(problems))
	return s.Session.Run(ctx, problems, func(i int, it glad.Iterates) error {
		p := problems[i]
		s.spy.of[i] = problemOf{p.S, it.Shape(), p.Samples}
		d := p.S.Len()
		return f(i, &spyIterates{it, &s.spy.cells[i], make([]float64, d*d)})
	})
}

type spyIterates struct {
	glad.Iterates
	to *[]zStep
	u  []float64
}

func (s *spyIterates) Cell(ctx context.Context, lambda float64) (float64, error) {
	_, z, err := s.Pair()
	if err != nil {
		return 0, err
	}
	c := zStep{lambda: lambda, z: slices.Clone(z.Raw()), u: s.u}
	if c.norm2, err = s.Iterates.Cell(ctx, lambda); err != nil {
		return 0, err
	}
	theta, z, err := s.Pair()
	if err != nil {
		return 0, err
	}
	c.theta, c.newZ = slices.Clone(theta.Raw()), slices.Clone(z.Raw())
	c.newU = make([]float64, len(c.u))
	for i, t := range c.theta {
		c.newU[i] = t + c.u[i] - c.newZ[i]
	}
	s.u = c.newU
	*s.to = append(*s.to, c)
	return c.norm2, nil
}

// watch runs m on random covariances of dimension d.
func watch(t *testing.T, m *glad.Model, r *rand.Rand, d, problems int) *spy {
	t.Helper()
	var list []solver.Problem
	for i := range problems {
		samples := 2*d + 3
		p := solver.Problem{S: randomCovariance(r, d, samples), Samples: samples}
		if i%2 == 1 {
			p.Samples = 0 // not known
		}
		list = append(list, p)
	}
	s := &spy{}
	if _, err := (glad.Solver{Model: m, Backend: s}).SolveAll(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return s
}

func randomCovariance(r *rand.Rand, d, samples int) *dense.Sym {
	rows := make([]float64, samples*d)
	for k := range samples {
		row := rows[k*d : (k+1)*d]
		for i := range row {
			row[i] = r.NormFloat64()
			if i > 0 {
				row[i] += 0.4 * row[i-1]
			}
		}
	}
	s := dense.NewSym(d, nil)
	for i := range d {
		for j := range i + 1 {
			var sum float64
			for k := range samples {
				sum += rows[k*d+i] * rows[k*d+j]
			}
			s.Set(i, j, sum/float64(samples))
		}
	}
	return s
}

// guessedSamples is M, or for 0 what stands for it: see glad.ZScore.
func (p problemOf) guessedSamples() float64 {
	if p.samples > 0 {
		return float64(p.samples)
	}
	var squares []float64
	for i := range p.s.Len() {
		for j := range i {
			r := p.s.At(i, j) / math.Sqrt(p.s.At(i, i)*p.s.At(j, j))
			squares = append(squares, r*r)
		}
	}
	if len(squares) == 0 {
		return 1e6
	}
	slices.Sort(squares)
	return min(max(0.4549/squares[len(squares)/2], 2), 1e6)
}

// nodes are n(i) and log Sii.
func (p problemOf) nodes() (n, logS []float64) {
	d := p.s.Len()
	var mean float64
	for i := range d {
		var sum float64
		for j, v := range p.s.Row(i) {
			sum += v * v / (p.s.At(i, i) * p.s.At(j, j))
		}
		n, logS = append(n, math.Log(sum)), append(logS, math.Log(p.s.At(i, i)))
		mean += math.Log(sum) / float64(d)
	}
	for i := range n {
		n[i] = 3 * (n[i] - mean)
	}
	return n, logS
}
