#include "launch.h"

#include <cstring>
#include <numeric>

#include "emulator.h"
#include "fiber.h"
#include "memory.h"
#include "queue.h"
#include "trap.h"

emulator_dim threadIdx, blockIdx, blockDim, gridDim;

// What __shared__ made; weak, because there may be none.
extern "C" {
extern char __start_emulator_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulator_shared[] __attribute__((weak, visibility("hidden")));
}

namespace emulator {

// A fiber carries threads one after another, until one of them comes to a barrier: from then on it
// is that thread's alone, and another fiber carries the rest. A kernel without
// barriers is a plain loop.
struct Carrier {
	Fiber *fiber;
	unsigned thread;
	bool at_barrier;  // of the thread it carries: has come to one
};

static std::vector<Carrier *> spare, used;
static Carrier *carrier;
static void (*kernel_thread)(const uint64_t *);
static const uint64_t *kernel_arguments;
static unsigned threads, begun, finished;

// An order of n things, a random one in the deferred mode: each lies stride behind the one before.
struct Order {
	uint64_t n, stride = 1, at = 0;
	explicit Order(uint64_t count) : n(count) {
		if (!settings().deferred) return;
		at = pick(n);
		do stride = 1 + pick(n);
		while (std::gcd(stride, n) != 1);
	}
	uint64_t next() {
		uint64_t here = at;
		at = n - at > stride ? at + stride : at + stride - n;
		return here;
	}
};
static Order order(1);

static void place(unsigned thread) {
	if (thread < blockDim.x) {
		threadIdx = {thread, 0, 0};
		return;
	}
	threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
}

static void carry() {
	for (;;) {
		Carrier *self = carrier;
		self->at_barrier = false;
		while (begun < threads && !self->at_barrier) {
			begun++;
			self->thread = order.next();
			place(self->thread);
			kernel_thread(kernel_arguments);
			finished++;
		}
		self->at_barrier = false;
		fiber_yield();
	}
}

static void resume(Carrier *c) {
	carrier = c;
	fiber_resume(c->fiber);
}

static Carrier *take_carrier() {
	Carrier *c;
	if (spare.empty())
		c = new Carrier{fiber_new(carry), 0, false};
	else
		c = spare.back(), spare.pop_back();
	used.push_back(c);
	return c;
}

// drop_carriers forgets threads in the middle of their work.
static void drop_carriers() {
	for (Carrier *c : used) {
		fiber_reset(c->fiber, carry);
		spare.push_back(c);
	}
	used.clear();
}

// run_block returns the number of threads that wait at a barrier which others do not come to: 0 if all is well.
static unsigned run_block(bool *barriers) {
	begun = finished = 0;
	while (begun < threads) resume(take_carrier());
	while (finished < threads) {
		*barriers = true;
		if (finished) return threads - finished;
		const size_t first = settings().deferred ? pick(used.size()) : 0;
		for (size_t i = 0; i < used.size(); i++) {
			Carrier *c = used[(i + first) % used.size()];
			place(c->thread);
			resume(c);
		}
	}
	spare.insert(spare.end(), used.begin(), used.end());
	used.clear();
	return 0;
}

static int run_blocks(const Grid &g, const char *name, std::string *why) {
	const uint64_t blocks = uint64_t(g.grid[0]) * g.grid[1] * g.grid[2];
	Order block_order(blocks);
	bool barriers = true;
	for (uint64_t k = 0; k < blocks; k++) {
		const uint64_t b = block_order.next();
		blockIdx = {unsigned(b % g.grid[0]), unsigned(b / g.grid[0] % g.grid[1]), unsigned(b / g.grid[0] / g.grid[1])};
		if (barriers && __start_emulator_shared) memset(__start_emulator_shared, 0xff, __stop_emulator_shared - __start_emulator_shared);
		barriers = false;
		if (unsigned waiting = run_block(&barriers)) {
			*why = format("%s: __syncthreads in block %llu reached by %u of %u threads", name, (unsigned long long)b, waiting, threads);
			return LAUNCH_FAILED;
		}
	}
	return SUCCESS;
}

int run_grid(Context *context, const Function &function, const Grid &g, const std::vector<uint64_t> &arguments) {
	const Kernel &k = *function.kernel;
	for (size_t i = 0; i < arguments.size(); i++) {
		if (k.kinds[i] != 'p' || arguments[i] == 0) continue;
		Context *owner;
		uintptr_t base;
		size_t bytes;
		bool known = device_extent(arguments[i], &owner, &base, &bytes) && owner == context;
		if (!known && !pinned_number((void *)arguments[i], 1))
			return fault(context, ILLEGAL_ADDRESS, format("%s: argument %zu, %#llx, is no memory of this context", k.name, i, (unsigned long long)arguments[i]));
	}
	for (auto &[symbol, copy] : function.module->constants) memcpy(symbol, (void *)copy.first, copy.second);
	kernel_thread = k.thread, kernel_arguments = arguments.data();
	threads = g.block[0] * g.block[1] * g.block[2];
	blockDim = {g.block[0], g.block[1], g.block[2]}, gridDim = {g.grid[0], g.grid[1], g.grid[2]};
	order = Order(threads);
	counter("launches").add(1);
	counter(std::string("launch.") + k.name).add(1);
	std::string why;
	uintptr_t address = 0;
	int code = trapped([&] { return run_blocks(g, k.name, &why); }, &address);
	if (code == trap) {
		why = format("%s: block %u,%u thread %u used the address %#lx, which is no memory", k.name, blockIdx.x, blockIdx.y, threadIdx.x, (long)address);
		code = ILLEGAL_ADDRESS;
	}
	if (code) {
		drop_carriers();
		return fault(context, code, why);
	}
	check_guards(context, k.name);
	return SUCCESS;
}

}  // namespace emulator

void __syncthreads() {
	emulator::carrier->at_barrier = true;
	emulator::Carrier *self = emulator::carrier;
	emulator::fiber_yield();
	emulator::carrier = self;
}
