// What tests set by environment variables named EMULATOR_..., or later by
// emulator_set. doc.go lists them.
#pragma once
#include <cstdint>
#include <string>

namespace emulator {

struct Settings {
	bool no_device = false, busy = false, deferred = false;
	uint64_t seed = 0;
	int devices = 1, version = 12090, multiprocessors = 8, capability = 90;
	size_t memory = size_t(4) << 30;
	std::string fail_name;      // empty: every call counts
	int64_t fail_at = 0;        // 0: none
	int fail_code = 0;          // 0: the library's own
	int64_t lost_after = -1;    // -1: never
	int lost_code = 0;
	std::string report;
	std::string hold;           // the kernel or call that waits; empty: none
};

Settings &settings();

// set changes one setting as the environment variable of that name would. False:
// there is no such setting.
bool set(const std::string &name, const std::string &value);

}  // namespace emulator
