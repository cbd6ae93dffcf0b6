package dense

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// cores makes Cores n for a test.
func cores(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n + int(spare.Load()))
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestShare(t *testing.T) {
	cores(t, 8)
	for _, number := range []int{1, 2, 5} {
		th := newThreads(number)
		var calls [40]atomic.Int32
		var inside, most atomic.Int64
		for range 50 {
			th.share(len(calls), func(i int) {
				n := inside.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				runtime.Gosched()
				calls[i].Add(1)
				inside.Add(-1)
			})
			if n := inside.Load(); n != 0 {
				t.Fatalf("share returns before %d of its calls", n)
			}
		}
		for i := range calls {
			if n := calls[i].Load(); n != 50 {
				t.Errorf("%d threads: f was called %d times for %d, not 50", number, n, i)
			}
		}
		if n := most.Load(); n > int64(number) {
			t.Errorf("%d calls at once on %d threads", n, number)
		}
	}
}

// A goroutine that gets no processor, or no thread, is not waited for.
func TestShareWaitsForNobodyWhoHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cores(t, 8)
		th := newThreads(3)
		th.own.enter() // two that compute elsewhere
		th.own.enter()
		var calls int
		th.share(10, func(int) { calls++ }) // the race detector sees a second goroutine
		if calls != 10 {
			t.Errorf("%d calls", calls)
		}
		th.own.leave()
		th.own.leave()
	})
}

// Several who share the threads of one engine stay within them, and within those of
// the process.
func TestSharesTogether(t *testing.T) {
	cores(t, 2)
	engines := []*threads{newThreads(1), newThreads(2), newThreads(7)}
	var inside, most atomic.Int64
	var all sync.WaitGroup
	for i := range 9 {
		all.Go(func() {
			for range 40 {
				engines[i%3].share(6, func(int) {
					n := inside.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					runtime.Gosched()
					inside.Add(-1)
				})
			}
		})
	}
	all.Wait()
	if n := most.Load(); n > 2 {
		t.Errorf("%d kernels at once on two cores", n)
	}
}

func TestShareForwardsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cores(t, 4)
		for _, number := range []int{1, 4} {
			th := newThreads(number)
			p := Catch(func() {
				th.share(20, func(i int) {
					if i == 7 {
						culprit()
					}
				})
			})
			synctest.Wait() // for helpers, which give their slots back after their last call
			if p == nil || p.Value != error(errCulprit) || !strings.Contains(string(p.Stack), "dense.culprit") {
				t.Errorf("%d threads: the panic is %v", number, p)
			}
			if n := th.own.inside.Load(); n != 0 {
				t.Errorf("%d threads: %d slots are lost", number, n)
			}
		}
		if n := processSlots.inside.Load(); n != 0 {
			t.Errorf("%d slots of the process are lost", n)
		}
	})
}

func TestPieces(t *testing.T) {
	cores(t, 64)
	for _, number := range []int{1, 2, 3, 64} {
		for _, n := range []int{1, 16, 191, 192, 257, 1000, 1081} {
			count, bound := newThreads(number).pieces(n)
			if bound(0) != 0 || bound(count) != n || count > 2*number {
				t.Errorf("%d threads, %d: %d pieces from %d to %d", number, n, count, bound(0), bound(count))
			}
			for i := range count {
				if w := bound(i+1) - bound(i); w < 48 && count > 1 || bound(i)%48 != 0 {
					t.Errorf("%d threads, %d: piece %d of %d begins at %d and has %d", number, n, i, count, bound(i), w)
				}
			}
		}
	}
}
