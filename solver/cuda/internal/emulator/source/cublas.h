// What the functions of cuBLAS begin with.
#pragma once
#include "blas.h"
#include "memory.h"
#include "queue.h"
#include "spans.h"
#include "state.h"

namespace cublas {

emulator::Registry<emulator::Handle> &handles();

// find returns a handle that may be used by the calling thread, or null.
emulator::Handle *find(void *handle);

// A Scalar is alpha or beta: read at once on the host, or when its turn comes on the device.
struct Scalar {
	bool on_device;
	const double *address;
	double value;
	double get() const { return on_device ? *address : value; }
};
// scalar reads a factor. False: the pointer is null, or of the device in host mode.
bool scalar(const emulator::Handle &h, const double *address, Scalar *s);

// run queues work and turns its result into a status.
int run(emulator::Stream *stream, const char *call, std::vector<emulator::Span> spans, std::vector<Scalar> scalars, std::function<void(const emulator::Blas &)> work);

}  // namespace cublas

#define ENTER_CUBLAS                                                   \
	emulator::Call call(__func__, emulator::Library::cublas);           \
	if (call.code) return call.code;                                    \
	emulator::Handle *h = cublas::find(handle);                         \
	if (!h) return cublas::NOT_INITIALIZED;                             \
	if (h->context->fault) return cublas::EXECUTION_FAILED;             \
	emulator::Stream *stream = emulator::find_stream(h->context, h->stream); \
	if (!stream) return emulator::complain(std::string(__func__) + ": the handle's stream was destroyed"), cublas::EXECUTION_FAILED;
