// libcuda: device memory and pinned host memory.
#include "memory.h"
#include "queue.h"

using namespace emulator;

API cuMemAlloc_v2(uintptr_t *address, size_t bytes) {
	ENTER_CONTEXT
	return address ? device_allocate(context, bytes, address) : INVALID_VALUE;
}

static int release(uintptr_t address) {
	Context *context = current();
	if (!context) return INVALID_CONTEXT;
	// The driver waits for the work that may use the memory.
	if (!idle(context)) counter("frees_that_waited").add(1);
	settle(context);
	int code = device_free(context, address);
	return context->fault ? context->fault : code;
}

API cuMemFree_v2(uintptr_t address) {
	Call call(__func__);
	return call.result(release(address));
}

API cuMemGetInfo_v2(size_t *available, size_t *total) {
	ENTER_CONTEXT
	if (!available || !total) return INVALID_VALUE;
	device_info(context->device, available, total);
	return SUCCESS;
}

API cuMemGetAddressRange_v2(uintptr_t *base, size_t *bytes, uintptr_t address) {
	ENTER_CONTEXT
	Context *owner;
	uintptr_t b;
	size_t n;
	if (!device_extent(address, &owner, &b, &n) || address == b + n) return NOT_FOUND;
	if (base) *base = b;
	if (bytes) *bytes = n;
	return SUCCESS;
}

API cuMemAllocHost_v2(void **address, size_t bytes) {
	ENTER_CONTEXT
	return address ? pinned_allocate(context, bytes, address) : INVALID_VALUE;
}

API cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
	ENTER_CONTEXT
	return address && flags < 8 ? pinned_allocate(context, bytes, address) : INVALID_VALUE;
}

API cuMemFreeHost(void *address) {
	Call call(__func__);
	// Unlike device memory, it is not said that this waits: a copy that still wants the memory is a
	// fault when its turn comes.
	return call.result(current() ? pinned_free(address) : INVALID_CONTEXT);
}

API cuMemHostRegister_v2(void *address, size_t bytes, unsigned) {
	ENTER_CONTEXT
	return pinned_register(address, bytes);
}

API cuMemHostUnregister(void *address) {
	Call call(__func__);
	return call.result(current() ? pinned_unregister(address) : INVALID_CONTEXT);
}

API cuMemHostGetDevicePointer_v2(uintptr_t *device, void *host, unsigned) {
	ENTER_CONTEXT
	if (!pinned_number(host, 1)) return INVALID_VALUE;
	*device = (uintptr_t)host;
	return SUCCESS;
}
