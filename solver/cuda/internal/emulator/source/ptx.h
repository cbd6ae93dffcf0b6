// What the driver takes from a module's PTX text.
#pragma once
#include <string>

namespace emulator {

// ptx_header reads ".version a.b" and ".target sm_c" as 10a+b and c. False: it is no PTX.
bool ptx_header(const std::string &ptx, int *version, int *target);
// ptx_entry finds ".entry name(...)" and the kind of each parameter: l for
// 64-bit integers and pointers, d for doubles, ? for any other type.
bool ptx_entry(const std::string &ptx, const std::string &name, std::string *kinds);
// ptx_constant says whether the PTX has a .const variable of that name, and its size in bytes.
bool ptx_constant(const std::string &ptx, const std::string &name, size_t *bytes);

}  // namespace emulator
