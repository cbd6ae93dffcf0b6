package dense

// Threads is the number of threads that a kernel of the engine e may work on, and
// all its kernels at the same time. Solvers compute on as many goroutines.
func Threads(e Engine) int {
	if t, ok := e.(interface{ Threads() int }); ok {
		return t.Threads()
	}
	return Cores()
}

// WithThreads returns the engine e for a user of its own, whose kernels work on n
// threads at most, and on no more than e's; 0 is as many as e's. The same number of
// threads gives the same bits. Another may change the last ones, of large kernels of
// OpenBLAS; not of gonum.
//
// Kernels of some n = 256 on are divided among the threads; below, they run on one,
// and side by side when several goroutines call. More calls than threads wait for
// each other. All engines of the process together work on Cores threads at most.
func WithThreads(e Engine, n int) Engine {
	if all := Threads(e); n < 1 || n > all {
		n = all
	}
	if e, ok := e.(interface{ withThreads(n int) Engine }); ok {
		return e.withThreads(n)
	}
	return e
}

// threads are those of an engine. Its kernels have a slot of the engine and one of
// the process.
type threads struct {
	number int
	own    slots
}

func newThreads(n int) *threads {
	t := &threads{number: n}
	t.own.limit = t.Threads
	return t
}

// Threads is for dense.Threads.
func (t *threads) Threads() int {
	if t == nil {
		return Cores()
	}
	return min(t.number, Cores())
}

func (t *threads) of() *threads { return t }

// alone runs a kernel on one thread.
func (t *threads) alone(f func()) {
	if t == nil { // Gonum{}
		f()
		return
	}
	t.enter()
	defer t.leave()
	f()
}

func (t *threads) enter() {
	t.own.enter()
	processSlots.enter()
}

func (t *threads) try() bool {
	if !t.own.try() {
		return false
	}
	if !processSlots.try() {
		t.own.leave()
		return false
	}
	return true
}

func (t *threads) leave() {
	processSlots.leave()
	t.own.leave()
}
