package dense

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := false
		for _, ctx := range []context.Context{context.Background(), t.Context()} {
			ran = false
			if err := Await(ctx, func() { time.Sleep(time.Hour); ran = true }); err != nil || !ran {
				t.Errorf("ran: %v, %v", ran, err)
			}
		}

		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		started := time.Now()
		done := make(chan bool, 1)
		err := Await(ctx, func() { time.Sleep(time.Hour); done <- true })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != 50*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(started))
		}
		if <-done; time.Since(started) != time.Hour {
			t.Error("the kernel was not left to its end")
		}

		ran = false
		if err := Await(ctx, func() { ran = true }); !errors.Is(err, context.DeadlineExceeded) || ran {
			t.Errorf("after the end: ran %v, %v", ran, err)
		}
	})
}

func TestAwaitResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("failure")
		kernel := func() (int, error) { time.Sleep(time.Second); return 7, failure }
		if v, err := AwaitResult(t.Context(), kernel); v != 7 || err != failure {
			t.Errorf("%v and %v", v, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if v, err := AwaitResult(ctx, kernel); v != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the end: %v and %v", v, err)
		}
		time.Sleep(time.Second) // until the kernel in the background has ended
	})
}
