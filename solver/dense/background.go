package dense

import (
	"context"
	"sync"
)

// A Background knows the kernels that Await has left behind when a context ended:
// they go on with their matrices for as long as they take. Who has to know when
// that memory is free waits for them.
type Background struct{ kernels sync.WaitGroup }

// Wait returns when no kernel is at work. It is called when no further one can
// begin: after the solver has returned.
func (b *Background) Wait() { b.kernels.Wait() }

type backgroundKey struct{}

// WithBackground returns a context, for solvers, whose kernels b knows.
func WithBackground(ctx context.Context, b *Background) context.Context {
	return context.WithValue(ctx, backgroundKey{}, b)
}

// begin notes a kernel of ctx; the function that it returns is called at its end.
func begin(ctx context.Context) (end func()) {
	b, ok := ctx.Value(backgroundKey{}).(*Background)
	if !ok {
		return func() {}
	}
	b.kernels.Add(1)
	return b.kernels.Done
}
