// What tests call besides CUDA's functions. They are not counted.
#include "state.h"

using namespace emulator;

// emulator_set changes a setting, named as its environment variable, while the process runs. 0: there is none such.
API emulator_set(const char *name, const char *value) {
	std::lock_guard<std::recursive_mutex> hold(state().lock);
	return set(name, value);
}

// emulator_count returns a counter of the report; 0 if nothing counted so far.
extern "C" __attribute__((visibility("default"))) long emulator_count(const char *name) {
	std::lock_guard<std::recursive_mutex> hold(state().lock);
	return counter(name).value;
}

// emulator_complaint is the last thing that was complained of.
extern "C" __attribute__((visibility("default"))) const char *emulator_complaint() {
	std::lock_guard<std::recursive_mutex> hold(state().lock);
	return last_complaint().c_str();
}

// emulator_call calls a function with 20 integers, more than purego passes.
extern "C" __attribute__((visibility("default"))) int emulator_call(void *function, const uintptr_t *a) {
	using F = int (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
	return ((F)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19]);
}
