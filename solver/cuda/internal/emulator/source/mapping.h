// One allocation's place in the process's memory, watched on both sides.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulator {

struct Mapping {
	char *start = nullptr;
	size_t bytes = 0;
};

// map finds room for bytes and fills it with NaN. It lies between space that cannot be
// read or written, and ends within 16 bytes of it. False: there is no room.
bool map(size_t bytes, Mapping *mapping, uintptr_t *address);
void unmap(const Mapping &mapping, uintptr_t address, size_t bytes);
// check_guard complains, and mends, if the bytes between an allocation and the closed
// space were written.
void check_guard(const Mapping &mapping, uintptr_t address, size_t bytes, const char *after);

inline size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace emulator
