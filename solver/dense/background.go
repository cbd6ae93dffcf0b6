package dense

import (
	"context"
	"sync"
)

// A Background knows the kernels of a context, also those that Await has left behind
// when the context ended: they go on with their matrices for as long as they take.
// Its zero value is ready.
type Background struct {
	mu      sync.Mutex
	kernels int
	idle    []func()
}

// WhenIdle calls f as soon as no kernel is at work: before it returns if none is. No
// kernel may begin after that.
func (b *Background) WhenIdle(f func()) {
	b.mu.Lock()
	if b.kernels > 0 {
		b.idle = append(b.idle, f)
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	f()
}

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
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kernels++
	return b.end
}

func (b *Background) end() {
	b.mu.Lock()
	b.kernels--
	var idle []func()
	if b.kernels == 0 {
		idle, b.idle = b.idle, nil
	}
	b.mu.Unlock()
	for _, f := range idle {
		f()
	}
}
