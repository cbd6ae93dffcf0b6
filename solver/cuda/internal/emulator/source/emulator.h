// CUDA's words for g++, so that kernels.cu compiles without CUDA. The words for
// one source in two languages stand here and nowhere else.
#pragma once

// Build reads the names of kernels and constants from the preprocessed text, in which the words
// that mark them have to stand.
#ifdef EMULATOR_NAMES
#define __launch_bounds__(...)
#else

#include <cmath>
#include <cstdint>

#define HIDDEN __attribute__((visibility("hidden")))

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#ifndef __restrict__
#define __restrict__ __restrict
#endif
// The blocks of a launch run one after another, so that one copy will do. shared.ld
// puts all of them in one place.
#define __shared__ static
// Filled from the module that a launch belongs to: see run_grid.
#define __constant__ static __attribute__((section("emulator_constant")))

struct emulator_dim { unsigned x, y, z; };
extern HIDDEN emulator_dim threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

HIDDEN void __syncthreads();
static inline void __threadfence() {}
static inline void __threadfence_block() {}

template <class T> static inline T __ldg(const T *p) { return *p; }

using std::acos, std::asin, std::atan, std::atan2, std::cbrt, std::ceil, std::copysign, std::cos, std::cosh;
using std::erf, std::exp, std::exp2, std::expm1, std::fabs, std::floor, std::fma, std::fmax, std::fmin, std::fmod;
using std::hypot, std::isfinite, std::isinf, std::isnan, std::log, std::log10, std::log1p, std::log2, std::pow;
using std::rint, std::round, std::signbit, std::sin, std::sinh, std::sqrt, std::tan, std::tanh, std::trunc;

static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
static inline long long __double_as_longlong(double x) { long long i; __builtin_memcpy(&i, &x, 8); return i; }
static inline double __longlong_as_double(long long i) { double x; __builtin_memcpy(&x, &i, 8); return x; }

// CUDA's min and max, whose double version returns the operand that is not NaN.
#define EMULATOR_MINMAX(T) \
	static inline T min(T a, T b) { return b < a ? b : a; } \
	static inline T max(T a, T b) { return a < b ? b : a; }
EMULATOR_MINMAX(int)
EMULATOR_MINMAX(unsigned)
EMULATOR_MINMAX(long)
EMULATOR_MINMAX(unsigned long)
EMULATOR_MINMAX(long long)
#undef EMULATOR_MINMAX
static inline double min(double a, double b) { return std::fmin(a, b); }
static inline double max(double a, double b) { return std::fmax(a, b); }

#endif
