// Device memory and pinned host memory, both of the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator {

struct Context;

// device_allocate returns 0 and an address, or OUT_OF_MEMORY. The memory holds NaN, lies between
// space that cannot be read or written, and ends within 16 bytes of it.
int device_allocate(Context *context, size_t bytes, uintptr_t *address);
int device_free(Context *context, uintptr_t address);
// device_extent finds the allocation that holds an address, or whose end it is.
bool device_extent(uintptr_t address, Context **context, uintptr_t *base, size_t *bytes);
// on_device says whether all bytes of a range lie in one live allocation of the context.
bool on_device(Context *context, uintptr_t address, size_t bytes);
// anywhere_on_device: the same, of whichever context.
bool anywhere_on_device(uintptr_t address, size_t bytes);
void device_info(int device, size_t *available, size_t *total);
// device_abandon ends a context's memory.
void device_abandon(Context *context);
// check_guards complains about what was written beside an allocation's ends.
void check_guards(Context *context, const char *after);

int pinned_allocate(Context *context, size_t bytes, void **address);
int pinned_free(void *address);
int pinned_register(void *address, size_t bytes);
int pinned_unregister(void *address);
// pinned_number is the number of the pinned memory that a range lies in; 0: pageable.
// No number is used twice.
uint64_t pinned_number(const void *address, size_t bytes);

}  // namespace emulator
