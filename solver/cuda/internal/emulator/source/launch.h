// Runs a grid: every block after another, every thread of a block on its own.
#pragma once
#include <cstdint>
#include <vector>

#include "state.h"
#include "table.h"

namespace emulator {

struct Grid {
	unsigned grid[3], block[3];
};

// run_grid returns 0 or the fault that the kernel ran into.
int run_grid(Context *context, const Function &function, const Grid &grid, const std::vector<uint64_t> &arguments);

}  // namespace emulator
