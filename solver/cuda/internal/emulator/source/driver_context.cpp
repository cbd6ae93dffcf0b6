// libcuda: contexts, and which one is current on the calling thread.
#include "memory.h"
#include "queue.h"
#include "state.h"

using namespace emulator;

static uintptr_t next_handle = 0x7e57c00000000000;

static void *handle_of(Context *context) {
	for (auto &[handle, c] : state().contexts)
		if (c == context) return handle;
	return nullptr;
}

static std::unique_ptr<Context> make(int device) {
	auto c = std::make_unique<Context>();
	c->device = device;
	c->null_stream.context = c.get();
	c->null_stream.blocking = true;
	state().contexts[(void *)(next_handle += 16)] = c.get();
	counter("contexts").add(1);
	return c;
}

// end destroys what a context holds. What nobody gave back stays in the counts.
static void end(std::unique_ptr<Context> c) {
	settle(c.get());
	device_abandon(c.get());
	state().streams.abandon(c.get());
	state().events.abandon(c.get());
	state().modules.abandon(c.get());
	state().contexts.erase(handle_of(c.get()));
	counter("contexts").add(-1);
	// Handles of libraries may still point to it: it is kept, and never found again.
	c.release();
}

static int check(int device) {
	if (!state().initialised) return NOT_INITIALIZED;
	return device < 0 || device >= settings().devices || size_t(device) >= state().primary.size() ? INVALID_DEVICE : SUCCESS;
}

API cuDevicePrimaryCtxRetain(void **context, int device) {
	ENTER
	if (int code = check(device)) return code;
	if (!context) return INVALID_VALUE;
	auto &c = state().primary[device];
	if (!c) {
		if (settings().busy) return DEVICE_UNAVAILABLE;
		c = make(device);
	}
	c->references++;
	counter("primary_references").add(1);
	*context = handle_of(c.get());
	return SUCCESS;
}

static int release(int device) {
	if (int code = check(device)) return code;
	auto &c = state().primary[device];
	if (!c) return INVALID_CONTEXT;
	counter("primary_references").add(-1);
	if (--c->references == 0) end(std::move(c));
	return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
	Call call(__func__);
	return call.result(release(device));
}

API cuDevicePrimaryCtxRelease(int device) {
	Call call(__func__);
	return call.result(release(device));
}

API cuDevicePrimaryCtxReset_v2(int device) {
	ENTER
	if (int code = check(device)) return code;
	auto &c = state().primary[device];
	if (!c) return SUCCESS;
	counter("primary_references").add(-c->references);
	end(std::move(c));
	return SUCCESS;
}

API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
	ENTER
	return check(device);
}

API cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
	ENTER
	if (int code = check(device)) return code;
	*flags = 0;
	*active = state().primary[device] != nullptr;
	return SUCCESS;
}

API cuCtxCreate_v2(void **context, unsigned, int device) {
	ENTER
	if (int code = check(device)) return code;
	if (!context) return INVALID_VALUE;
	if (settings().busy) return DEVICE_UNAVAILABLE;
	*context = handle_of(make(device).release());
	current_stack().push_back(*context);
	return SUCCESS;
}

API cuCtxDestroy_v2(void *context) {
	Call call(__func__);
	auto i = state().contexts.find(context);
	if (i == state().contexts.end()) return call.result(INVALID_CONTEXT);
	for (auto &c : state().primary)
		if (c.get() == i->second) return call.result(INVALID_CONTEXT);
	end(std::unique_ptr<Context>(i->second));
	if (current_handle() == context) current_stack().pop_back();
	return call.result(SUCCESS);
}

API cuCtxSetCurrent(void *context) {
	ENTER
	if (!state().initialised) return NOT_INITIALIZED;
	auto &stack = current_stack();
	if (context && !state().contexts.count(context)) return INVALID_CONTEXT;
	if (!stack.empty()) stack.pop_back();
	if (context) stack.push_back(context);
	return SUCCESS;
}

API cuCtxGetCurrent(void **context) {
	ENTER
	if (!state().initialised) return NOT_INITIALIZED;
	*context = current_handle();
	return SUCCESS;
}

API cuCtxPushCurrent_v2(void *context) {
	ENTER
	if (!state().contexts.count(context)) return INVALID_CONTEXT;
	current_stack().push_back(context);
	return SUCCESS;
}

API cuCtxPopCurrent_v2(void **context) {
	ENTER
	if (current_stack().empty()) return INVALID_CONTEXT;
	if (context) *context = current_handle();
	current_stack().pop_back();
	return SUCCESS;
}

API cuCtxGetDevice(int *device) {
	ENTER_CONTEXT
	*device = context->device;
	return SUCCESS;
}

API cuCtxGetFlags(unsigned *flags) {
	ENTER_CONTEXT
	*flags = 0;
	return SUCCESS;
}

API cuCtxGetApiVersion(void *handle, unsigned *version) {
	ENTER
	if (handle && !state().contexts.count(handle)) return INVALID_CONTEXT;
	*version = 3020;
	return SUCCESS;
}

API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
	ENTER_CONTEXT
	if (least) *least = 0;
	if (greatest) *greatest = -5;
	return SUCCESS;
}

API cuCtxSynchronize() {
	ENTER_CONTEXT
	return settle(context);
}
