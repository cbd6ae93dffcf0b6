package glasso

import (
	"context"
	"math"
	"testing"

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
