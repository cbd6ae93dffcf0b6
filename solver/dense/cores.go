package dense

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Cores is the number of threads that kernels work on at the same time, in the
// whole process, and the default number of goroutines that compute:
// GOMAXPROCS, less the spare processor.
func Cores() int { return max(1, runtime.GOMAXPROCS(0)-int(spare.Load())) }

// SpareProcessor raises GOMAXPROCS by one, once, for a processor that nothing
// computes on. Programs that run kernels from several goroutines at a time call
// it when they start; it saves them about a fifth of their time where kernels
// take a millisecond. From then on GOMAXPROCS does not follow the limits of a
// container that change.
//
// To the Go runtime a kernel of OpenBLAS is a system call. When one lasts and
// no processor is idle, the runtime takes the processor of its goroutine and
// wakes a thread to look for other work, on the core that another kernel is
// running on; the goroutine then has to queue for a processor. A spare
// processor avoids this.
func SpareProcessor() {
	addSpare.Do(func() {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
		spare.Store(1)
	})
}

// LimitCores makes Cores n, if that is less: for the rest of the process, all
// kernels together work on n threads, and what Go does on as many processors, plus
// the spare one where n is more than 1.
func LimitCores(n int) {
	if n = max(1, n); n >= Cores() {
		return
	}
	addSpare.Do(func() {}) // it is not for later either
	if n == 1 {
		spare.Store(0)
	}
	runtime.GOMAXPROCS(n + int(spare.Load()))
}

var (
	addSpare sync.Once
	spare    atomic.Int64
)
