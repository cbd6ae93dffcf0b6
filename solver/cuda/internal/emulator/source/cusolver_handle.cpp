// libcusolver: handles and parameters.
#include "cusolver.h"

using namespace emulator;

struct Parameters {};

static Registry<Parameters> &parameters() {
	static auto *r = new Registry<Parameters>("cusolver_parameters");
	return *r;
}

namespace cusolver {

Registry<Handle> &handles() {
	static auto *r = new Registry<Handle>("cusolver_handles");
	return *r;
}

Handle *find(void *handle) {
	Handle *h = handles().find(handle);
	if (!h) return complain("cuSOLVER: no such handle, or it was destroyed"), nullptr;
	if (h->context != current()) return complain("cuSOLVER: the handle's context is not current on this thread"), nullptr;
	return h;
}

bool is_parameters(void *handle) { return ::parameters().find(handle); }

int invalid(const char *call, const char *what) {
	complain(std::string(call) + ": invalid " + what);
	return INVALID_VALUE;
}

int run(Stream *stream, const char *call, std::vector<Span> spans, std::function<void(const Blas &)> work) {
	const Blas *b = blas();
	if (!b) return INTERNAL_ERROR;
	return device_work(stream, call, std::move(spans), [=] { work(*b); }) ? EXECUTION_FAILED : SUCCESS;
}

}  // namespace cusolver

API cusolverDnCreate(void **handle) {
	Call call(__func__, Library::cusolver);
	if (call.code) return call.code;
	if (!handle) return cusolver::INVALID_VALUE;
	Context *context = current();
	if (!context || context->fault) return complain("cusolverDnCreate: no context is current on this thread"), cusolver::NOT_INITIALIZED;
	if (!blas()) return cusolver::NOT_INITIALIZED;
	*handle = cusolver::handles().add(std::make_unique<Handle>(Handle{context}));
	return cusolver::SUCCESS;
}

static int destroy(void *handle) {
	Handle *h = cusolver::find(handle);
	if (!h) return cusolver::NOT_INITIALIZED;
	settle(h->context);
	cusolver::handles().remove(handle);
	return cusolver::SUCCESS;
}

API cusolverDnDestroy(void *handle) {
	Call call(__func__, Library::cusolver);
	return call.result(destroy(handle));
}

API cusolverDnSetStream(void *handle, void *to) {
	Call call(__func__, Library::cusolver);
	if (call.code) return call.code;
	Handle *h = cusolver::find(handle);
	if (!h) return cusolver::NOT_INITIALIZED;
	if (!find_stream(h->context, to)) return cusolver::invalid(__func__, "stream: it is none of the handle's context");
	h->stream = to;
	return cusolver::SUCCESS;
}

API cusolverDnGetStream(void *handle, void **of) {
	ENTER_CUSOLVER
	if (!of) return cusolver::INVALID_VALUE;
	*of = h->stream;
	return cusolver::SUCCESS;
}

API cusolverGetVersion(int *version) {
	Call call(__func__, Library::cusolver);
	if (call.code) return call.code;
	if (!version) return cusolver::INVALID_VALUE;
	*version = 11705;
	return cusolver::SUCCESS;
}

API cusolverGetProperty(int which, int *value) {
	Call call(__func__, Library::cusolver);
	if (call.code) return call.code;
	const int parts[] = {11, 7, 5};
	if (!value || which < 0 || which > 2) return cusolver::INVALID_VALUE;
	*value = parts[which];
	return cusolver::SUCCESS;
}

API cusolverDnCreateParams(void **handle) {
	Call call(__func__, Library::cusolver);
	if (call.code) return call.code;
	if (!handle) return cusolver::INVALID_VALUE;
	*handle = parameters().add(std::make_unique<Parameters>());
	return cusolver::SUCCESS;
}

API cusolverDnDestroyParams(void *handle) {
	Call call(__func__, Library::cusolver);
	if (!cusolver::is_parameters(handle)) return call.result(cusolver::INVALID_VALUE);
	parameters().remove(handle);
	return call.result(cusolver::SUCCESS);
}
