package glasso

import (
	"context"
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// late is a context that ends between a kernel's start and its end: it is
// asked twice before.
type late struct {
	context.Context
	asked int
}

func (l *late) Err() error {
	if l.asked++; l.asked <= 2 {
		return nil
	}
	return context.Canceled
}

func (l *late) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// slow tells what it is to factor, once it is told to go on.
type slow struct {
	dense.Engine
	proceed chan struct{}
	got     chan float64
}

func (s slow) Cholesky(n int, a []float64) bool {
	<-s.proceed
	s.got <- a[0]
	return s.Engine.Cholesky(n, a)
}

// A factorisation that goes on in the background leaves the matrix to those who
// gave up waiting for it. (The race detector sees more of this than we do.)
func TestAbandonedFactorisationHasAMatrixOfItsOwn(t *testing.T) {
	engine := slow{dense.Gonum{}, make(chan struct{}), make(chan float64)}
	c := &certificate{b: &block{work: dense.NewWorkspace(engine, dense.LongFrom)}, factor: dense.NewSym(dense.LongFrom, nil)}
	a := dense.Identity(dense.LongFrom)
	ctx := &late{Context: context.Background()}
	if _, ok := c.logDet(ctx, a); ok {
		t.Fatal("waited for the factorisation")
	}
	a.Set(0, 0, math.NaN())
	if _, ok := c.logDet(ctx, a); ok {
		t.Error("started another")
	}
	close(engine.proceed)
	if v := <-engine.got; v != 1 {
		t.Errorf("factors a matrix that begins with %v", v)
	}
}

// stuck is an engine one of whose kernels comes to no end before it is told to.
type stuck struct {
	dense.Engine
	inverse bool // that kernel is CholeskyInverse, else Cholesky
	began   chan struct{}
	proceed chan struct{}
}

func (s stuck) wait() {
	select {
	case s.began <- struct{}{}:
	default:
	}
	<-s.proceed
}

func (s stuck) Cholesky(n int, a []float64) bool {
	if !s.inverse {
		s.wait()
	}
	return s.Engine.Cholesky(n, a)
}

func (s stuck) CholeskyInverse(n int, a []float64) bool {
	if s.inverse {
		s.wait()
	}
	return s.Engine.CholeskyInverse(n, a)
}

// A solution that starts from another one is cancelled while it factors or inverts that.
func TestStartIsCancelled(t *testing.T) {
	const d = dense.LongFrom + 5
	s := dense.Identity(d)
	for i := range d - 1 {
		s.Set(i, i+1, 0.4)
	}
	set := Settings{Penalty: Penalty{Rho: 0.2}, Engine: dense.Gonum{}}
	first, err := BCD{set}.Solve(t.Context(), solver.Problem{S: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, inverse := range []bool{false, true} {
		engine := stuck{dense.Gonum{}, inverse, make(chan struct{}, 1), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-engine.began
			cancel()
		}()
		set.Initial, set.Engine, set.Penalty.Rho = first, engine, 0.1
		est, err := BCD{set}.Solve(ctx, solver.Problem{S: s}) // or it waits for ever
		if err != nil || est.Status != solver.Interrupted || !(est.Objective > 0) {
			t.Errorf("inverse %v: %+v, %v", inverse, est, err)
		}
		close(engine.proceed)
	}
}
