//go:build cuda

package cuda

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// expression is the correlation matrix of 1081 genes of E. coli over 301 conditions.
func expression(t *testing.T) solver.Problem {
	t.Helper()
	file := filepath.Join("..", "..", "..", "shared", "data", "dream5", "net3_expression_1081genes_301conditions.tsv.gz")
	f, err := os.Open(file)
	if err != nil {
		t.Skipf("the expression data are not here: %v", err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(unpacked)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var x []float64
	m, d := len(rows)-1, len(rows[0])-1
	for _, row := range rows[1:] {
		for _, text := range row[1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
	}
	for j := range d {
		var mean float64
		for i := range m {
			mean += x[i*d+j] / float64(m)
		}
		for i := range m {
			x[i*d+j] -= mean
		}
	}
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Default(), d).Gram(s, 1/float64(m-1), x, m, 0)
	return solver.Problem{S: s, Samples: m}
}

// Large matrices, by both methods; those of expression data are badly conditioned.
func TestLargeProblems(t *testing.T) {
	b := opened(t)
	b.method = automatic
	long := os.Getenv("GLADFLOW_LONG") != ""
	for _, c := range []struct {
		name, model string
		problem     func() solver.Problem
		long        bool
	}{
		{"d=500, general", "general", func() solver.Problem { return sampled(rand.New(rand.NewPCG(1, 500)), 500, 300) }, false},
		{"d=500, recipe", "er-d100-m100-recipe", func() solver.Problem { return sampled(rand.New(rand.NewPCG(1, 500)), 500, 300) }, false},
		{"d=601, literal", "er-d100-m100-literal", func() solver.Problem { return sampled(rand.New(rand.NewPCG(2, 601)), 601, 900) }, true},
		{"E. coli, general", "general", func() solver.Problem { return expression(t) }, false},
		{"E. coli, literal", "er-d100-m100-literal", func() solver.Problem { return expression(t) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !long {
				return // minutes, on the emulated driver
			}
			p := c.problem()
			m := model(t, c.model)
			want, err := glad.Solver{Model: m}.Solve(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := glad.Solver{Model: m, Backend: b}.Solve(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			e, f := distance(got.Precision, want.Precision), distance(got.Support, want.Support)
			t.Logf("Θ is off by %.2g, Z by %.2g", e, f)
			if !(e < 1e-8 && f < 1e-8) {
				t.Error("that is too much")
			}
		})
	}
}

// What a batch takes is no more than what was taken of the budget for it, and not much
// less.
func TestMemoryOfABatch(t *testing.T) {
	b := opened(t)
	for _, name := range []string{"general", "er-d100-m100-literal"} {
		opened, err := b.Open(plan(t, name))
		if err != nil {
			t.Fatal(err)
		}
		s := opened.(*session)
		for _, c := range []struct{ d, n int }{{1, 1}, {50, 1}, {50, 20}, {700, 1}, {700, 2}} {
			var problems []solver.Problem
			for range c.n {
				problems = append(problems, sampled(rand.New(rand.NewPCG(1, 1)), c.d, 2*c.d))
			}
			before := b.device.Allocated()
			n, bytes, err := s.reserve(c.d, c.n)
			if err != nil || n != c.n {
				t.Fatal(n, err)
			}
			batch, err := s.newBatch(t.Context(), problems, bytes)
			if err != nil {
				t.Fatal(err)
			}
			taken := b.device.Allocated() - before
			if taken > bytes || c.d > 100 && taken < bytes/2 {
				t.Errorf("%s: %d of d = %d take %d bytes, and %d were reserved", name, c.n, c.d, taken, bytes)
			}
			if err := batch.close(); err != nil {
				t.Error(err)
			}
			if left := b.device.Allocated() - before; left != 0 {
				t.Errorf("%d bytes are left", left)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A listener is a glad.Backend that keeps the plan it is asked for.
type listener struct{ plan *glad.Plan }

func (l *listener) Name() string { return "none" }

func (l *listener) Open(p *glad.Plan) (glad.Session, error) {
	l.plan = p
	return nil, errors.ErrUnsupported
}

// plan is that of a built-in model.
func plan(t *testing.T, name string) *glad.Plan {
	t.Helper()
	var l listener
	_, _ = glad.Solver{Model: model(t, name), Backend: &l}.Solve(t.Context(), solver.Problem{S: dense.Identity(1)})
	return l.plan
}
