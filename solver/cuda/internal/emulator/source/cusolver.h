// What the functions of cuSOLVER begin with.
#pragma once
#include "blas.h"
#include "memory.h"
#include "queue.h"
#include "spans.h"
#include "state.h"

namespace cusolver {

emulator::Registry<emulator::Handle> &handles();
emulator::Handle *find(void *handle);
// is_parameters: of cusolverDnCreateParams, not destroyed yet.
bool is_parameters(void *parameters);

int invalid(const char *call, const char *what);
int run(emulator::Stream *stream, const char *call, std::vector<emulator::Span> spans, std::function<void(const emulator::Blas &)> work);

// eigen replaces a symmetric matrix by its eigenvectors, or by NaN where they are not wanted, and returns LAPACK's info.
int eigen(const emulator::Blas &b, bool vectors, int uplo, int n, double *a, int lda, double *values);

// Of cublasFillMode_t and cusolverEigMode_t.
inline char triangle(int u) { return u == 0 ? 'L' : 'U'; }
inline bool is_bit(int u) { return u == 0 || u == 1; }
inline bool leads(int64_t ld, int64_t rows) { return ld >= (rows > 1 ? rows : 1); }

}  // namespace cusolver

#define ENTER_CUSOLVER                                                 \
	emulator::Call call(__func__, emulator::Library::cusolver);         \
	if (call.code) return call.code;                                    \
	emulator::Handle *h = cusolver::find(handle);                       \
	if (!h) return cusolver::NOT_INITIALIZED;                           \
	if (h->context->fault) return cusolver::EXECUTION_FAILED;           \
	emulator::Stream *stream = emulator::find_stream(h->context, h->stream); \
	if (!stream) return emulator::complain(std::string(__func__) + ": the handle's stream was destroyed"), cusolver::EXECUTION_FAILED;
