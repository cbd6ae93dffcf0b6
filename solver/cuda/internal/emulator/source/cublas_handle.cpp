// libcublas: handles.
#include "cublas.h"

using namespace emulator;

namespace cublas {

Registry<Handle> &handles() {
	static auto *r = new Registry<Handle>("cublas_handles");
	return *r;
}

Handle *find(void *handle) {
	Handle *h = handles().find(handle);
	if (!h) return complain("cuBLAS: no such handle, or it was destroyed"), nullptr;
	if (h->context != current()) return complain("cuBLAS: the handle's context is not current on this thread"), nullptr;
	return h;
}

bool scalar(const Handle &h, const double *address, Scalar *s) {
	if (!address) return false;
	const bool device = anywhere_on_device((uintptr_t)address, 8);
	if (h.pointer_mode == 0 && device) return complain("cuBLAS: a scalar is on the device, and the pointer mode is host"), false;
	*s = {h.pointer_mode == 1, address, h.pointer_mode == 1 ? 0 : *address};
	return true;
}

int run(Stream *stream, const char *call, std::vector<Span> spans, std::vector<Scalar> scalars, std::function<void(const Blas &)> work) {
	for (const Scalar &s : scalars)
		if (s.on_device) spans.push_back(emulator::vector("a scalar", s.address, 1, 1));
	const Blas *b = blas();
	if (!b) return INTERNAL_ERROR;
	return device_work(stream, call, std::move(spans), [=] { work(*b); }) ? EXECUTION_FAILED : SUCCESS;
}

}  // namespace cublas

API cublasCreate_v2(void **handle) {
	Call call(__func__, Library::cublas);
	if (call.code) return call.code;
	if (!handle) return cublas::INVALID_VALUE;
	// The library would make device 0's primary context current here: a thread without a
	// context is a mistake of ours.
	Context *context = current();
	if (!context || context->fault) return complain("cublasCreate: no context is current on this thread"), cublas::NOT_INITIALIZED;
	if (!blas()) return cublas::NOT_INITIALIZED;
	*handle = cublas::handles().add(std::make_unique<Handle>(Handle{context}));
	return cublas::SUCCESS;
}

static int destroy(void *handle) {
	Handle *h = cublas::find(handle);
	if (!h) return cublas::NOT_INITIALIZED;
	settle(h->context);
	cublas::handles().remove(handle);
	return cublas::SUCCESS;
}

API cublasDestroy_v2(void *handle) {
	Call call(__func__, Library::cublas);
	return call.result(destroy(handle));
}

API cublasSetStream_v2(void *handle, void *to) {
	Call call(__func__, Library::cublas);
	if (call.code) return call.code;
	Handle *h = cublas::find(handle);
	if (!h) return cublas::NOT_INITIALIZED;
	if (!find_stream(h->context, to)) return complain("cublasSetStream: no such stream in the handle's context"), cublas::INVALID_VALUE;
	h->stream = to;
	return cublas::SUCCESS;
}

API cublasGetStream_v2(void *handle, void **of) {
	ENTER_CUBLAS
	if (!of) return cublas::INVALID_VALUE;
	*of = h->stream;
	return cublas::SUCCESS;
}

API cublasGetVersion_v2(void *handle, int *version) {
	ENTER_CUBLAS
	if (!version) return cublas::INVALID_VALUE;
	*version = 120901;
	return cublas::SUCCESS;
}

static int property(int which, int *value) {
	const int parts[] = {12, 9, 1};  // major, minor, patch
	if (!value || which < 0 || which > 2) return cublas::INVALID_VALUE;
	*value = parts[which];
	return cublas::SUCCESS;
}

API cublasGetProperty(int which, int *value) {
	Call call(__func__, Library::cublas);
	return call.code ? call.code : property(which, value);
}

API cublasSetPointerMode_v2(void *handle, int mode) {
	ENTER_CUBLAS
	if (mode < 0 || mode > 1) return cublas::INVALID_VALUE;
	h->pointer_mode = mode;
	return cublas::SUCCESS;
}

API cublasGetPointerMode_v2(void *handle, int *mode) {
	ENTER_CUBLAS
	if (!mode) return cublas::INVALID_VALUE;
	*mode = h->pointer_mode;
	return cublas::SUCCESS;
}

// Double precision has but one way here.
API cublasSetMathMode(void *handle, int) {
	ENTER_CUBLAS
	return cublas::SUCCESS;
}

API cublasSetAtomicsMode(void *handle, int) {
	ENTER_CUBLAS
	return cublas::SUCCESS;
}

API cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes) {
	ENTER_CUBLAS
	return bytes == 0 || on_device(h->context, (uintptr_t)workspace, bytes) ? cublas::SUCCESS : cublas::INVALID_VALUE;
}

extern "C" __attribute__((visibility("default"))) const char *cublasGetStatusString(int status) {
	switch (status) {
	case 0: return "success";
	case 1: return "the library was not initialized";
	case 3: return "the resource allocation failed";
	case 7: return "an invalid value was used as an argument";
	case 13: return "the function failed to launch on the GPU";
	case 14: return "an internal operation failed";
	case 15: return "the functionality is not supported";
	default: return "unknown status";
	}
}
