package glasso

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// bomb is an engine that panics at matrices of one size.
type bomb struct {
	dense.Engine
	size int
}

const explosion = "a stride of the wrong length"

func (b bomb) Cholesky(n int, a []float64) bool {
	b.explode(n)
	return b.Engine.Cholesky(n, a)
}

func (b bomb) Eigen(n int, a, values []float64, work *dense.Scratch) bool {
	b.explode(n)
	return b.Engine.Eigen(n, a, values, work)
}

//go:noinline
func (b bomb) explode(n int) {
	if n == b.size {
		panic(explosion)
	}
}

// chains is a covariance whose components are chains of these sizes.
func chains(sizes ...int) *dense.Sym {
	var d int
	for _, n := range sizes {
		d += n
	}
	s := dense.NewSym(d, nil)
	i := 0
	for _, n := range sizes {
		for k := range n {
			s.Set(i, i, 1)
			if k > 0 {
				s.Set(i-1, i, 0.4)
			}
			i++
		}
	}
	return s
}

// A panic in a component that is solved beside others reaches who called Solve,
// with its value and the stack of its origin.
func TestPanicInComponent(t *testing.T) {
	engine, err := dense.Open("gonum")
	if err != nil {
		t.Fatal(err)
	}
	set := Settings{Penalty: Penalty{Rho: 0.1}, Engine: bomb{engine, 7}}
	for name, s := range map[string]solver.Solver{
		"bcd": BCD{Settings: set}, "gista": GISTA{Settings: set}, "admm": ADMM{Settings: set},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ctx := range []context.Context{context.Background(), t.Context()} {
				p := dense.Catch(func() {
					est, err := s.Solve(ctx, solver.Problem{S: chains(9, 8, 7, 7, 6, 5, 4, 3, 1), Samples: 50})
					t.Errorf("returned %v, %v", est, err)
				})
				wantExplosion(t, p)
			}
		})
	}
	// AM takes all variables as one.
	set.Engine = bomb{engine, 16}
	wantExplosion(t, dense.Catch(func() {
		AM{Settings: set}.Solve(t.Context(), solver.Problem{S: chains(9, 7), Samples: 50})
	}))
}

// Where kernels are large enough to be awaited the panic goes through two
// goroutines.
func TestPanicInAwaitedKernel(t *testing.T) {
	engine, err := dense.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	set := Settings{Penalty: Penalty{Rho: 0.1}, Engine: bomb{engine, dense.LongFrom}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, s := range []solver.Solver{BCD{Settings: set}, GISTA{Settings: set}, ADMM{Settings: set}} {
		wantExplosion(t, dense.Catch(func() {
			s.Solve(ctx, solver.Problem{S: chains(dense.LongFrom, 5), Samples: 50})
		}))
	}
}

func wantExplosion(t *testing.T, p *dense.Panic) {
	t.Helper()
	if p == nil {
		t.Fatal("the panic is lost")
	}
	if p.Value != explosion {
		t.Errorf("value %v", p.Value)
	}
	if !strings.Contains(string(p.Stack), "glasso.bomb.explode") {
		t.Errorf("the stack does not name the culprit:\n%s", p.Stack)
	}
}
