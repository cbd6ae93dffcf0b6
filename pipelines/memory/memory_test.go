package memory

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestBudget(t *testing.T) {
	b := NewBudget(Process + 1000)
	for _, c := range []struct {
		bytes        int64
		fits, never  bool
		taken, limit int64
	}{
		{400, true, false, 0, 0},
		{600, true, false, 0, 0}, // to the edge
		{1, false, false, 1000, Process + 1000},
		{1001, false, true, 1000, Process + 1000},
	} {
		err := b.Reserve(c.bytes)
		var e *Error
		if (err == nil) != c.fits || err != nil && (!errors.As(err, &e) || e.Needs != c.bytes || e.Never() != c.never || e.Taken != c.taken || e.Limit != c.limit) {
			t.Errorf("%d bytes: %v", c.bytes, err)
		}
	}
	b.Release(1000)
	if b.Taken() != 0 || b.Reserve(1000) != nil {
		t.Errorf("%d bytes are taken after the release", b.Taken())
	}
	if err := NewBudget(0).Reserve(1 << 60); err != nil {
		t.Errorf("without a bound: %v", err)
	}
}

func TestBudgetIsShared(t *testing.T) {
	b := NewBudget(Process + 10)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			for range 100 {
				if b.Reserve(3) == nil {
					if taken := b.Taken(); taken > 10 {
						t.Errorf("%d of 10 bytes are taken", taken)
					}
					b.Release(3)
				}
			}
		})
	}
	group.Wait()
	if b.Taken() != 0 {
		t.Errorf("%d bytes are left", b.Taken())
	}
}

func TestError(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want []string
	}{
		{Error{Needs: 2 << 30, What: "solver admm on 4000 variables", Limit: 1 << 30}, []string{"the run needs 2 GiB of memory for solver admm on 4000 variables", "limit is 1 GiB", "can never", "fewer variables"}},
		{Error{Needs: 300 << 20, Limit: 1 << 30, Taken: 700 << 20}, []string{"needs 300 MiB", "limit of 1 GiB", "others have 700 MiB", "try again when a run has ended"}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.err.Error(), want) {
				t.Errorf("%q lacks %q", c.err.Error(), want)
			}
		}
	}
	if limit := int64(1 << 30); Heap(limit) >= limit || Heap(limit) < limit-Process || Heap(1) <= 0 {
		t.Error("the heap's limit is a bit below the limit")
	}
}
