package dense

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Background
		calls := 0
		count := func() { calls++ }
		b.WhenIdle(count)
		if calls != 1 {
			t.Error("nothing is at work, and yet it is waited for")
		}

		ctx, cancel := context.WithTimeout(WithBackground(t.Context(), &b), time.Second)
		defer cancel()
		if err := Await(ctx, func() {}); err != nil {
			t.Fatal(err)
		}
		b.WhenIdle(count) // the kernel has ended
		if calls != 2 {
			t.Error("a kernel that has ended is waited for")
		}

		started := time.Now()
		for range 2 { // the second does not begin
			if err := Await(ctx, func() { time.Sleep(time.Hour) }); err == nil {
				t.Fatal("the kernel was waited for")
			}
		}
		idle := make(chan time.Duration, 1)
		b.WhenIdle(func() { idle <- time.Since(started) })
		if after := <-idle; after != time.Hour {
			t.Errorf("the kernel in the background is over after %v", after)
		}
	})
}

// A kernel that panics has ended too.
func TestBackgroundPanic(t *testing.T) {
	var b Background
	ctx, cancel := context.WithCancel(WithBackground(t.Context(), &b))
	defer cancel()
	if Catch(func() { _ = Await(ctx, func() { panic("a defect") }) }) == nil {
		t.Fatal("the panic is lost")
	}
	idle := make(chan struct{})
	b.WhenIdle(func() { close(idle) })
	<-idle
}
