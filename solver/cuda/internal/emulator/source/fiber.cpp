#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

static const size_t stack_size = 128 << 10;

struct Fiber {
	char *stack;
	size_t top;  // where it begins, from stack
#if defined(__x86_64__)
	void *saved;
#else
	ucontext_t saved;
#endif
	void (*body)();
};

static Fiber *running = nullptr;

// ASan wants to know which stack is in use.
#if defined(__SANITIZE_ADDRESS__)
static const void *home;
static size_t home_size;
static void leaving(void **keep, const void *bottom, size_t size) { __sanitizer_start_switch_fiber(keep, bottom, size); }
static void arrived(void *kept, const void **bottom, size_t *size) { __sanitizer_finish_switch_fiber(kept, bottom, size); }
#endif

#if defined(__x86_64__)
// swapcontext makes a system call; a barrier would take a hundred times as long.
extern "C" void emulator_switch(void **save, void *load);
asm(R"(
	.text
	.hidden emulator_switch
	.globl emulator_switch
	.type emulator_switch,@function
emulator_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size emulator_switch, .-emulator_switch
)");
static void *scheduler;
static void to_fiber(Fiber *f) { emulator_switch(&scheduler, f->saved); }
static void to_scheduler(Fiber *f) { emulator_switch(&f->saved, scheduler); }
#else
static ucontext_t scheduler;
static void to_fiber(Fiber *f) { swapcontext(&scheduler, &f->saved); }
static void to_scheduler(Fiber *f) { swapcontext(&f->saved, &scheduler); }
#endif

static void start() {
#if defined(__SANITIZE_ADDRESS__)
	arrived(nullptr, &home, &home_size);
#endif
	running->body();
	abort();
}

Fiber *fiber_new(void (*body)()) {
	const size_t page = sysconf(_SC_PAGESIZE);
	char *map = (char *)mmap(nullptr, stack_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED || mprotect(map, page, PROT_NONE)) {
		perror("emulator: stack of a fiber");
		abort();
	}
	Fiber *f = new Fiber;
	f->stack = map + page;
	// Tops at one place of their pages would share a few lines of the cache.
	static unsigned number = 0;
	f->top = stack_size - number++ % 64 * 192;
	fiber_reset(f, body);
	return f;
}

void fiber_reset(Fiber *f, void (*body)()) {
	f->body = body;
#if defined(__x86_64__)
	// As if start had been called: its stack pointer is 8 off a multiple of 16.
	void **top = (void **)(f->stack + f->top) - 2;
	*top = (void *)start;
	f->saved = top - 6;
#else
	getcontext(&f->saved);
	f->saved.uc_stack.ss_sp = f->stack;
	f->saved.uc_stack.ss_size = f->top;
	f->saved.uc_link = nullptr;
	makecontext(&f->saved, start, 0);
#endif
}

void fiber_resume(Fiber *f) {
	running = f;
#if defined(__SANITIZE_ADDRESS__)
	void *keep;
	leaving(&keep, f->stack, stack_size);
	to_fiber(f);
	arrived(keep, nullptr, nullptr);
#else
	to_fiber(f);
#endif
	running = nullptr;
}

void fiber_yield() {
	Fiber *f = running;
#if defined(__SANITIZE_ADDRESS__)
	void *keep;
	leaving(&keep, home, home_size);
	to_scheduler(f);
	arrived(keep, &home, &home_size);
#else
	to_scheduler(f);
#endif
}

}  // namespace emulator
