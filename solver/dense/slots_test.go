package dense

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestSlotsKeepTheirLimit(t *testing.T) {
	const limit = 3
	s := slots{limit: func() int { return limit }}
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 3000 {
				if i%2 == 0 {
					s.enter()
				} else if !s.try() {
					continue
				}
				n := inside.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				inside.Add(-1)
				s.leave()
			}
		})
	}
	all.Wait()
	if n := most.Load(); n > limit {
		t.Errorf("%d inside, the limit is %d", n, limit)
	}
	if s.inside.Load() != 0 || s.waiting.Load() != 0 || len(s.queue) != 0 {
		t.Errorf("%d inside, %d waiting afterwards", s.inside.Load(), s.waiting.Load())
	}
}

// Who has waited longest goes in first, and nobody past those who wait.
func TestSlotsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots{limit: func() int { return 1 }}
		s.enter()
		var order []int
		for i := range 4 {
			go func() { s.enter(); order = append(order, i); s.leave() }()
			synctest.Wait()
		}
		if s.try() {
			t.Error("there is a slot, and four who wait for one")
		}
		s.leave()
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3}) {
			t.Errorf("they went in as %v", order)
		}
		if !s.try() {
			t.Error("the slot is lost")
		}
	})
}
