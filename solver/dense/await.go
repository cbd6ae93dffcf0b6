package dense

import "context"

// Await runs kernel, a call that cannot be interrupted, and returns nil when it
// is done, or the error of ctx as soon as ctx ends.
//
// In the second case kernel goes on in the background to its end, of which the
// Background of ctx knows. The caller must
// no longer use, or reuse, any matrix, vector or Workspace that it reads or
// writes. Where ctx has ended before the call, kernel is not run at all. Solvers call it for kernels that may take longer than some
// milliseconds: see AwaitLong.
//
// When kernel panics, Await panics in its caller's goroutine, with a *Panic
// where kernel ran in another. A panic of a kernel in the background ends that
// kernel only, and is not reported.
func Await(ctx context.Context, kernel func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() == nil {
		kernel()
		return nil
	}
	done := make(chan struct{})
	var caught *Panic
	end := begin(ctx)
	go func() {
		defer close(done)
		defer end()
		caught = Catch(kernel)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done: // both at once: the result is there, so use it
		default:
			return ctx.Err()
		}
	}
	if caught != nil {
		panic(caught)
	}
	return nil
}

// LongFrom is the n from which a kernel on n×n matrices may take so long that a
// cancellation must not wait for it.
const LongFrom = 300

// AwaitLong is Await where n is at least LongFrom. Below, it runs kernel whether
// ctx has ended or not.
func AwaitLong(ctx context.Context, n int, kernel func()) error {
	if n < LongFrom {
		kernel()
		return nil
	}
	return Await(ctx, kernel)
}

// AwaitResult is Await for a kernel with a result. Where ctx ends first it
// returns the error of ctx and nothing of what kernel may still be writing to.
func AwaitResult[T any](ctx context.Context, kernel func() (T, error)) (T, error) {
	var result, none T
	var failure error
	if err := Await(ctx, func() { result, failure = kernel() }); err != nil {
		return none, err
	}
	return result, failure
}
