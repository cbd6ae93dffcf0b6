// The table of kernels and constants. Build writes table.cpp from the names in kernels.cu.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace emulator {

struct Kernel {
	const char *name;
	void (*thread)(const uint64_t *arguments);  // runs one thread
	const char *kinds;                          // of each argument: p pointer, d double, l long
};

struct Constant {
	const char *name;
	void *address;
	size_t bytes;
};

extern const Kernel kernels[];
extern const size_t kernel_count;
extern const Constant constants[];
extern const size_t constant_count;

template <class T> constexpr char kind_of() { return std::is_pointer_v<T> ? 'p' : std::is_floating_point_v<T> ? 'd' : 'l'; }

template <class T> T from_bits(uint64_t bits) {
	T value;
	memcpy(&value, &bits, 8);
	return value;
}

template <auto F> struct Launcher;
template <class... A, void (*F)(A...)> struct Launcher<F> {
	static_assert(((sizeof(A) == 8) && ...), "gorgonia.org/cu copies 8 bytes of every argument: use pointers, long and double");
	template <size_t... I> static void spread(const uint64_t *v, std::index_sequence<I...>) { F(from_bits<A>(v[I])...); }
	static void thread(const uint64_t *v) { spread(v, std::index_sequence_for<A...>()); }
	static constexpr char kinds[] = {kind_of<A>()..., 0};
};

#define EMULATOR_KERNEL(f) {#f, emulator::Launcher<f>::thread, emulator::Launcher<f>::kinds}
#define EMULATOR_CONSTANT(c) {#c, (void *)&c, sizeof c}

}  // namespace emulator
