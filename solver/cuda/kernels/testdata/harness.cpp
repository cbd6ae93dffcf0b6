// Runs the kernels for the tests of this package. Blocks run one after another, and in
// them the threads, each on a stack of its own, from one barrier to the next. In
// the other order they run backwards: results that differ show that a barrier is missing.
#include "kernels.cu"
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <tuple>
#include <ucontext.h>
#include <utility>

dim3 threadIdx, blockIdx, blockDim, gridDim;

typedef void (*runner)(void **);

template <auto F> struct of;
template <class... A, void (*F)(A...)> struct of<F> {
	static_assert(((sizeof(A) == 8) && ...), "an argument does not have 8 bytes");
	template <size_t... I> static void call(void **p, std::index_sequence<I...>) { F(*(A *)p[I]...); }
	static void run(void **p) { call(p, std::index_sequence_for<A...>()); }
	static constexpr long count = sizeof...(A);
};

static struct kernel {
	const char *name;
	runner run;
	long arguments;
} kernels[] = {
#define K(f) {#f, of<f>::run, of<f>::count},
#include "kernels.inc" // of the table in Go
};

static constexpr size_t stackBytes = 64 << 10;
static struct fiber {
	jmp_buf state;
	bool made, done;
} fibers[ONE];
static char *stacks;
static unsigned running;
static jmp_buf scheduler;
static kernel *now;
static void **arguments;

// halt goes back to the scheduler, until that goes on with this thread.
static void halt() {
	if (!_setjmp(fibers[running].state)) _longjmp(scheduler, 1);
}

// body is a thread, of one block after the other.
static void body() {
	for (;;) {
		now->run(arguments);
		fibers[running].done = true;
		halt();
	}
}

void __syncthreads() { halt(); }

// go_on runs thread t until its next barrier.
static void go_on(unsigned t) {
	running = t;
	threadIdx = {t, 0, 0};
	if (_setjmp(scheduler)) return;
	if (fibers[t].made) _longjmp(fibers[t].state, 1);
	fibers[t].made = true;
	ucontext_t c;
	getcontext(&c);
	c.uc_stack.ss_sp = stacks + t * stackBytes;
	c.uc_stack.ss_size = stackBytes;
	c.uc_link = nullptr;
	makecontext(&c, body, 0);
	setcontext(&c);
}

static bool run_block(unsigned threads, bool backwards) {
	for (unsigned t = 0; t < threads; t++) fibers[t].done = false;
	for (unsigned left = threads; left;) {
		unsigned waiting = 0;
		for (unsigned k = 0; k < threads; k++) {
			const unsigned t = backwards ? threads - 1 - k : k;
			if (fibers[t].done) continue;
			go_on(t);
			if (fibers[t].done) left--;
			else waiting++;
		}
		if (waiting && waiting != threads) return false;
	}
	return true;
}

// launch returns 0, 1 for a kernel that is not there, 2 for a wrong number of arguments, 3
// for a barrier that some threads of a block do not come to. Only is the one block to run, or -1.
extern "C" long launch(const char *name, long gridX, long gridY, long threads, void **p, long count, long backwards, long only) {
	now = nullptr;
	for (kernel &k : kernels)
		if (!strcmp(k.name, name)) now = &k;
	if (!now) return 1;
	if (now->arguments != count) return 2;
	if (!stacks) {
		stacks = (char *)mmap(nullptr, ONE * stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stacks == MAP_FAILED) abort();
	}
	arguments = p;
	gridDim = {(unsigned)gridX, (unsigned)gridY, 1};
	blockDim = {(unsigned)threads, 1, 1};
	for (long b = 0; b < gridX * gridY; b++) {
		const long at = backwards ? gridX * gridY - 1 - b : b;
		if (only >= 0 && at != only) continue;
		blockIdx = {(unsigned)(at % gridX), (unsigned)(at / gridX), 0};
		if (!run_block((unsigned)threads, backwards)) return 3;
	}
	return 0;
}

// corner_at is the row or column at which tile t begins.
extern "C" long corner_at(long t, long column) { return column ? corner_of(t).left : corner_of(t).top; }

extern "C" void set_weights(const double *from, long count) {
	for (long i = 0; i < WEIGHTS; i++) weights[i] = i < count ? from[i] : NAN;
}

// limits are the constants that Go has too.
extern "C" long limits(long which) { return which == 0 ? THREADS : which == 1 ? ONE : which == 2 ? TILE : which == 3 ? WEIGHTS : which == 4 ? SLOTS : CELL_SUMS; }
