package dense

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 50} {
		var calls [20]atomic.Int32
		if err := Each(t.Context(), len(calls), workers, func(w, i int) error {
			if w < 0 || workers > 0 && w >= workers {
				t.Errorf("worker %d of %d", w, workers)
			}
			calls[i].Add(1)
			return nil
		}); err != nil {
			t.Error(err)
		}
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d workers: f was called %d times for %d", workers, n, i)
			}
		}
	}
}

func TestEachFails(t *testing.T) {
	first := errors.New("first")
	if err := Each(t.Context(), 9, 1, func(_, i int) error {
		if i == 4 {
			return first
		}
		if i > 4 {
			t.Errorf("f(%d) begins after an error", i)
		}
		return nil
	}); !errors.Is(err, first) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := Each(ctx, 9, 2, func(_, i int) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if p := Catch(func() { _ = Each(t.Context(), 3, 2, func(int, int) error { panic("here") }) }); p == nil || p.Value != "here" {
		t.Errorf("the panic is %v", p)
	}
}
