package arrowio

import (
	"context"
	"fmt"
	"time"
)

// attention is how long a reader may take to notice the end of its context: a
// page that is being unpacked, a disk that is slow, a pipe in which nothing comes.
const attention = 50 * time.Millisecond

// attend runs f, which reads the table that errors call name, and returns its
// error. If ctx ends and f does not notice within attention, attend returns
// without it and says so: f goes on in its goroutine to the next look at its
// context, and then clean is called. What f writes to is f's alone then.
func attend(ctx context.Context, name string, f func() error, clean func()) (abandoned bool, err error) {
	type outcome struct {
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.err = f()
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		late := time.NewTimer(attention)
		defer late.Stop()
		select {
		case o = <-done:
		case <-late.C:
			go func() {
				<-done
				clean()
			}()
			return true, fmt.Errorf("reading %s: %w", name, ctx.Err())
		}
	}
	if o.panicked != nil {
		panic(o.panicked) // as if there were no goroutine
	}
	return false, o.err
}

// attended is attend for a table that is read at once. A table that nobody waits
// for any more is dropped by drop, which may be nil.
func attended[T any](ctx context.Context, path string, read func() (T, error), drop func(T)) (T, error) {
	var v, none T
	name := Redacted(path)
	if path == stdinPath {
		name = stdinName
	}
	_, err := attend(ctx, name, func() (err error) {
		v, err = read()
		return err
	}, func() {
		if drop != nil {
			drop(v)
		}
	})
	if err != nil {
		return none, err
	}
	return v, nil
}
