// Turns a kernel's use of memory that is not there into an error.
#pragma once
#include <cstdint>
#include <functional>

namespace emulator {

const int trap = -1;

// trapped returns what work returns, or trap, with the address, if work touched memory that cannot
// be read or written. What work had locked or allocated is then lost.
int trapped(const std::function<int()> &work, uintptr_t *address);

}  // namespace emulator
