// Fibers: stacks that take turns on one thread.
#pragma once

namespace emulator {

struct Fiber;

// fiber_new makes a fiber that will run body, which must never return.
Fiber *fiber_new(void (*body)());
// fiber_reset makes it start anew: what it was in the middle of is dropped.
void fiber_reset(Fiber *fiber, void (*body)());
// fiber_resume runs a fiber until it calls fiber_yield.
void fiber_resume(Fiber *fiber);
void fiber_yield();

}  // namespace emulator
