// libcuda: copies and fills.
#include <cstring>

#include "memory.h"
#include "queue.h"

using namespace emulator;

// check_device checks one end of a copy, when it is given and again when it runs: the memory may
// be gone by then.
static int check_device(uintptr_t address, size_t bytes, const char *call) {
	if (anywhere_on_device(address, bytes)) return SUCCESS;
	complain(format("%s: %zu bytes at %#lx do not lie in one allocation", call, bytes, (long)address));
	return INVALID_VALUE;
}

static int check_host(const void *address, const char *call) {
	if (address && !anywhere_on_device((uintptr_t)address, 1)) return SUCCESS;
	complain(format("%s: %p is not host memory", call, address));
	return INVALID_VALUE;
}

// copy queues a copy. Ends on the host are read and written when its turn comes, as with pinned memory: a
// caller that gives a buffer back before copies the wrong thing, or faults.
static int copy(Stream *stream, uintptr_t to, uintptr_t from, size_t bytes, bool device_to, bool device_from, const char *call) {
	if (!stream) return INVALID_HANDLE;
	if (bytes == 0) return SUCCESS;
	Context *context = stream->context;
	if (int code = device_to ? check_device(to, bytes, call) : check_host((void *)to, call)) return code;
	if (int code = device_from ? check_device(from, bytes, call) : check_host((void *)from, call)) return code;
	const void *host = device_to ? device_from ? nullptr : (void *)from : (void *)to;
	const uint64_t number = host ? pinned_number(host, bytes) : 0;
	counter("copies").add(1);
	if (host) counter(device_to ? "uploaded_bytes" : "downloaded_bytes").add(bytes);
	return enqueue(stream, [=] {
		if ((device_to && !anywhere_on_device(to, bytes)) || (device_from && !anywhere_on_device(from, bytes)))
			return fault(context, ILLEGAL_ADDRESS, format("%s: the device memory was freed before the copy ran", call));
		if (number && pinned_number(host, bytes) != number)
			return fault(context, ILLEGAL_ADDRESS, format("%s: the pinned host memory was freed before the copy ran", call));
		memmove((void *)to, (void *)from, bytes);
		return int(SUCCESS);
	});
}

static int synchronous(Context *context, int code) {
	if (code) return code;
	settle(&context->null_stream);
	return context->fault;
}

API cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t bytes) {
	ENTER_CONTEXT
	return synchronous(context, copy(&context->null_stream, to, (uintptr_t)from, bytes, true, false, __func__));
}

API cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t bytes) {
	ENTER_CONTEXT
	return synchronous(context, copy(&context->null_stream, (uintptr_t)to, from, bytes, false, true, __func__));
}

// Between two places of the device the call does not wait.
API cuMemcpyDtoD_v2(uintptr_t to, uintptr_t from, size_t bytes) {
	ENTER_CONTEXT
	return copy(&context->null_stream, to, from, bytes, true, true, __func__);
}

API cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, void *stream) {
	ENTER_CONTEXT
	return copy(find_stream(context, stream), to, (uintptr_t)from, bytes, true, false, __func__);
}

API cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, void *stream) {
	ENTER_CONTEXT
	return copy(find_stream(context, stream), (uintptr_t)to, from, bytes, false, true, __func__);
}

API cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
	ENTER_CONTEXT
	return copy(find_stream(context, stream), to, from, bytes, true, true, __func__);
}

// The driver tells from the addresses which end lies where.
API cuMemcpy(uintptr_t to, uintptr_t from, size_t bytes) {
	ENTER_CONTEXT
	return synchronous(context, copy(&context->null_stream, to, from, bytes, anywhere_on_device(to, 1), anywhere_on_device(from, 1), __func__));
}

API cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, void *stream) {
	ENTER_CONTEXT
	return copy(find_stream(context, stream), to, from, bytes, anywhere_on_device(to, 1), anywhere_on_device(from, 1), __func__);
}

template <class T> static int fill(Stream *stream, uintptr_t to, T value, size_t n, const char *call) {
	if (!stream) return INVALID_HANDLE;
	if (n == 0) return SUCCESS;
	if (to % sizeof(T) || n > ~size_t(0) / sizeof(T)) return INVALID_VALUE;
	Context *context = stream->context;
	if (int code = check_device(to, n * sizeof(T), call)) return code;
	return enqueue(stream, [=] {
		if (!anywhere_on_device(to, n * sizeof(T)))
			return fault(context, ILLEGAL_ADDRESS, format("%s: the device memory was freed before the fill ran", call));
		for (size_t i = 0; i < n; i++) memcpy((char *)to + i * sizeof(T), &value, sizeof(T));
		return int(SUCCESS);
	});
}

API cuMemsetD8_v2(uintptr_t to, unsigned char value, size_t n) {
	ENTER_CONTEXT
	return fill(&context->null_stream, to, value, n, __func__);
}

API cuMemsetD16_v2(uintptr_t to, unsigned short value, size_t n) {
	ENTER_CONTEXT
	return fill(&context->null_stream, to, value, n, __func__);
}

API cuMemsetD32_v2(uintptr_t to, unsigned value, size_t n) {
	ENTER_CONTEXT
	return fill(&context->null_stream, to, value, n, __func__);
}

API cuMemsetD8Async(uintptr_t to, unsigned char value, size_t n, void *stream) {
	ENTER_CONTEXT
	return fill(find_stream(context, stream), to, value, n, __func__);
}

API cuMemsetD16Async(uintptr_t to, unsigned short value, size_t n, void *stream) {
	ENTER_CONTEXT
	return fill(find_stream(context, stream), to, value, n, __func__);
}

API cuMemsetD32Async(uintptr_t to, unsigned value, size_t n, void *stream) {
	ENTER_CONTEXT
	return fill(find_stream(context, stream), to, value, n, __func__);
}
