// The Fortran interface of OpenBLAS, opened at run time.
#pragma once
#include <cstddef>

namespace emulator {

// Fortran takes everything by address, and the length of every text behind the others.
#define EMULATOR_BLAS(X)                                                                                                                              \
	X(dgemm_, void, const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t) \
	X(dsyrk_, void, const char *, const char *, const int *, const int *, const double *, const double *, const int *, const double *, double *, const int *, size_t, size_t) \
	X(dgemv_, void, const char *, const int *, const int *, const double *, const double *, const int *, const double *, const int *, const double *, double *, const int *, size_t) \
	X(ddot_, double, const int *, const double *, const int *, const double *, const int *)                                                            \
	X(dnrm2_, double, const int *, const double *, const int *)                                                                                        \
	X(daxpy_, void, const int *, const double *, const double *, const int *, double *, const int *)                                                   \
	X(dscal_, void, const int *, const double *, double *, const int *)                                                                                \
	X(dpotrf_, void, const char *, const int *, double *, const int *, int *, size_t)                                                                  \
	X(dpotri_, void, const char *, const int *, double *, const int *, int *, size_t)                                                                  \
	X(dpotrs_, void, const char *, const int *, const int *, const double *, const int *, double *, const int *, int *, size_t)                        \
	X(dsyevd_, void, const char *, const char *, const int *, double *, const int *, double *, double *, const int *, int *, const int *, int *, size_t, size_t)

struct Blas {
#define X(name, result, ...) result (*name)(__VA_ARGS__);
	EMULATOR_BLAS(X)
#undef X
};

// blas opens the library on first use; null, with a complaint, where there is none.
const Blas *blas();

}  // namespace emulator
