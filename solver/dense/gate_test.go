package dense

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
)

// Whoever is inside finds the number of threads that it asked for.
func TestGateKeepsItsNumber(t *testing.T) {
	setting := 0 // guarded by the gate, as the race detector can see
	g := gate{set: func(n int) { setting = n }}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for range 2000 {
				want := 1 + r.IntN(3)
				g.enter(want)
				if setting != want {
					t.Errorf("%d threads, want %d", setting, want)
				}
				g.leave()
			}
		})
	}
	all.Wait()
	if g.inside != 0 || len(g.queue) != 0 {
		t.Errorf("%d inside, %d waiting", g.inside, len(g.queue))
	}
}

// Equals go in together; the other waits for them, and they, coming again,
// behind it.
func TestGateIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sets []int
		g := gate{set: func(n int) { sets = append(sets, n) }}
		g.enter(1)
		g.enter(1)
		var order []int
		go func() { g.enter(2); order = append(order, 2); g.leave() }()
		synctest.Wait()
		go func() { g.enter(1); order = append(order, 1); g.leave() }()
		synctest.Wait()
		g.leave()
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("%v went in while 1 was inside", order)
		}
		g.leave()
		synctest.Wait()
		if len(order) != 2 || order[0] != 2 || order[1] != 1 {
			t.Errorf("order %v, want [2 1]", order)
		}
		if len(sets) != 3 { // 1, 2, 1
			t.Errorf("numbers set: %v", sets)
		}
	})
}
