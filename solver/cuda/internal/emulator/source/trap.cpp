#include "trap.h"

#include <setjmp.h>
#include <signal.h>

namespace emulator {

#if defined(__SANITIZE_ADDRESS__)
// ASan tells more, and ends the process.
int trapped(const std::function<int()> &work, uintptr_t *) { return work(); }
#else

static sigjmp_buf back;
static thread_local bool here = false;
static uintptr_t where;
static struct sigaction before[2];

// Go's handler serves the faults of all other threads.
static void handle(int number, siginfo_t *info, void *machine) {
	if (here) {
		where = (uintptr_t)info->si_addr;
		siglongjmp(back, 1);
	}
	const struct sigaction &a = before[number == SIGBUS];
	if (a.sa_flags & SA_SIGINFO && a.sa_sigaction)
		a.sa_sigaction(number, info, machine);
	else
		signal(number, SIG_DFL);  // the instruction is run again, and the process dies of it
}

int trapped(const std::function<int()> &work, uintptr_t *address) {
	struct sigaction a = {};
	a.sa_sigaction = handle;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&a.sa_mask);
	sigaction(SIGSEGV, &a, &before[0]);
	sigaction(SIGBUS, &a, &before[1]);
	volatile int code;
	if (sigsetjmp(back, 1) == 0) {
		here = true;
		code = work();
	} else {
		*address = where;
		code = trap;
	}
	here = false;
	sigaction(SIGSEGV, &before[0], nullptr);
	sigaction(SIGBUS, &before[1], nullptr);
	return code;
}
#endif

}  // namespace emulator
