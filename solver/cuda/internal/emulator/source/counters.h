// Counts for the report: what lives, what was done, how often each call was made.
#pragma once
#include <cstdint>
#include <string>

namespace emulator {

// count returns the counter of a name, made at 0 on first use. The reference
// stays valid.
struct Counter {
	std::string name;
	int64_t value = 0;
	char *slot = nullptr;  // its digits in the report
	void add(int64_t n);
};
Counter &counter(const std::string &name);

// report_to writes every counter into a file of lines "name number", kept up to date in shared
// memory, because Go's os.Exit runs no exit functions. Empty: none.
void report_to(const std::string &file);

// call_counted adds one call and returns the numbers of it since
// restart_counts: among all calls, and among those of its name.
struct Position { int64_t all, named; };
Position call_counted(const char *name);
void restart_counts();

}  // namespace emulator
