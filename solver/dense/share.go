package dense

import "sync/atomic"

// share calls f for 0 ≤ i < n, from the goroutine of its caller and as many others
// as threads allows, and returns when all calls have returned.
//
// It does not wait for a goroutine that has not begun: each takes the next i when
// it is ready to. On a busy machine, where a thread that is woken may wait for a core
// longer than a kernel takes, the caller then does all of the work by itself.
// Nothing spins. When f panics, share panics with a *Panic.
func (t *threads) share(n int, f func(i int)) {
	helpers := min(t.Threads(), n) - 1
	if helpers < 1 {
		for i := range n {
			t.alone(func() { f(i) })
		}
		return
	}
	s := &sharing{of: t, n: int64(n), f: f, done: make(chan struct{})}
	for range helpers {
		go s.help()
	}
	s.lead()
	<-s.done
	s.forward()
}

// Share is share, for what kernels do in Go. Gonum{} does it on one goroutine.
func (t *threads) Share(n int, f func(i int)) {
	if t == nil {
		for i := range n {
			f(i)
		}
		return
	}
	t.share(n, f)
}

// Share calls f for 0 ≤ i < n on the threads of the engine e, that of its caller
// among them, and returns when all calls have returned. It is for what solvers compute beside
// kernels, in pieces of some microseconds or more: on a busy machine the caller does
// all of them by itself. When f panics, Share panics with a *Panic.
func Share(e Engine, n int, f func(i int)) {
	if s, ok := e.(interface{ Share(n int, f func(i int)) }); ok {
		s.Share(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

// sharing is one call of share.
type sharing struct {
	of              *threads
	n               int64
	f               func(i int)
	begun, returned atomic.Int64
	caught          atomic.Pointer[Panic]
	done            chan struct{}
}

func (s *sharing) next() int64 { return s.begun.Add(1) - 1 }

// lead does what is left, waiting for a thread if need be: it is the caller's part.
func (s *sharing) lead() {
	for i := s.next(); i < s.n; i = s.next() {
		s.of.enter()
		s.do(i)
		s.of.leave()
	}
}

// forward panics if f did.
func (s *sharing) forward() {
	if caught := s.caught.Load(); caught != nil {
		panic(caught)
	}
}

// help does what is left, as long as there are threads for it.
func (s *sharing) help() {
	for s.of.try() {
		i := s.next()
		if i < s.n {
			s.do(i)
		}
		s.of.leave()
		if i >= s.n {
			return
		}
	}
}

func (s *sharing) do(i int64) {
	if s.caught.Load() == nil {
		if caught := Catch(func() { s.f(int(i)) }); caught != nil {
			s.caught.CompareAndSwap(nil, caught)
		}
	}
	if s.returned.Add(1) == s.n {
		close(s.done)
	}
}

// pieces divides n rows or columns into pieces for share: count of them, piece i
// beginning at bound(i). Every thread gets two, so that one that began late, or
// lost its core for a while, leaves its second to the others; but none is narrower than
// narrowest, for the other factor of a product is packed anew for each. Bounds are
// multiples of 48, as are the sides of the kernels' own tiles.
func (t *threads) pieces(n int) (count int, bound func(i int) int) {
	const narrowest, tile = 96, 48
	count = 1
	if th := t.Threads(); th > 1 {
		count = max(1, min(2*th, n/narrowest))
	}
	return count, func(i int) int {
		if i == count {
			return n
		}
		return n * i / count / tile * tile
	}
}

// start is where column i of a matrix begins, or its row i.
func start(i, stride int, row bool) int {
	if row {
		return i * stride
	}
	return i
}
