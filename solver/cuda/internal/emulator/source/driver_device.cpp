// libcuda: the driver, its devices and its errors' names.
#include <cstdio>
#include <cstring>

#include "memory.h"
#include "state.h"

using namespace emulator;

API cuInit(unsigned flags) {
	Call call(__func__);
	if (call.code) return call.code;
	if (flags) return INVALID_VALUE;
	if (settings().no_device || settings().devices < 1) return NO_DEVICE;
	state().initialised = true;
	if (state().primary.size() < size_t(settings().devices)) state().primary.resize(settings().devices);
	return SUCCESS;
}

API cuDriverGetVersion(int *version) {
	ENTER
	if (!version) return INVALID_VALUE;
	*version = settings().version;
	return SUCCESS;
}

API cuDeviceGetCount(int *count) {
	ENTER
	if (!state().initialised) return NOT_INITIALIZED;
	if (!count) return INVALID_VALUE;
	*count = settings().devices;
	return SUCCESS;
}

static int check(int device) {
	if (!state().initialised) return NOT_INITIALIZED;
	return device < 0 || device >= settings().devices ? INVALID_DEVICE : SUCCESS;
}

API cuDeviceGet(int *device, int ordinal) {
	ENTER
	if (int code = check(ordinal)) return code;
	if (!device) return INVALID_VALUE;
	*device = ordinal;
	return SUCCESS;
}

API cuDeviceGetName(char *name, int length, int device) {
	ENTER
	if (int code = check(device)) return code;
	if (!name || length < 1) return INVALID_VALUE;
	snprintf(name, length, "Emulated device %d", device);
	return SUCCESS;
}

static int uuid_of(unsigned char *uuid, int device) {
	if (int code = check(device)) return code;
	if (!uuid) return INVALID_VALUE;
	memcpy(uuid, "emulated device", 15);
	uuid[15] = (unsigned char)device;
	return SUCCESS;
}

API cuDeviceGetUuid(unsigned char *uuid, int device) {
	ENTER
	return uuid_of(uuid, device);
}

API cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
	ENTER
	return uuid_of(uuid, device);
}

API cuDeviceTotalMem_v2(size_t *bytes, int device) {
	ENTER
	if (int code = check(device)) return code;
	if (!bytes) return INVALID_VALUE;
	size_t available;
	device_info(device, &available, bytes);
	return SUCCESS;
}

static int attribute(int which, int device) {
	switch (which) {
	case 1: case 2: case 3: return 1024;          // threads of a block; x and y of a block
	case 4: return 64;                            // z of a block
	case 5: return 2147483647;                    // x of a grid
	case 6: case 7: return 65535;                 // y and z of a grid
	case 8: return 48 << 10;                      // shared memory of a block
	case 9: return 64 << 10;                      // constant memory
	case 10: return 32;                           // warp
	case 11: return 2147483647;                   // pitch
	case 12: case 82: return 64 << 10;            // registers of a block, of a multiprocessor
	case 13: return 1500000;                      // clock, kHz
	case 15: case 19: case 31: return 1;          // overlap, mapped host memory, concurrent kernels
	case 16: return settings().multiprocessors;
	case 20: return settings().busy ? 3 : 0;      // exclusive process, default
	case 33: return device + 1;                   // PCI bus
	case 36: return 2000000;                      // memory clock, kHz
	case 37: return 4096;                         // memory bus, bits
	case 38: return 32 << 20;                     // level 2 cache
	case 39: return 2048;                         // threads of a multiprocessor
	case 40: return 2;                            // copy engines
	case 41: case 83: return 1;                   // unified addressing, managed memory
	case 75: return settings().capability / 10;
	case 76: return settings().capability % 10;
	case 81: return 228 << 10;                    // shared memory of a multiprocessor
	case 87: return 2;                            // single over double speed
	case 97: return 227 << 10;                    // shared memory of a block, on request
	default: return 0;
	}
}

API cuDeviceGetAttribute(int *value, int which, int device) {
	ENTER
	if (int code = check(device)) return code;
	if (!value || which < 1 || which > 148) return INVALID_VALUE;
	*value = attribute(which, device);
	return SUCCESS;
}

API cuDeviceCanAccessPeer(int *can, int device, int peer) {
	ENTER
	if (int code = check(device)) return code;
	if (int code = check(peer)) return code;
	*can = 0;
	return SUCCESS;
}

static const struct { int code; const char *name, *text; } errors[] = {
	{SUCCESS, "CUDA_SUCCESS", "no error"},
	{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
	{DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
	{NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
	{INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
	{UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
	{FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
	{INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	{CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
	{HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
	{HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
	{LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
	{UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

// These two are no work of the driver: they are not counted, and never fail on request.
API cuGetErrorName(int code, const char **text) {
	for (auto &e : errors)
		if (e.code == code) return *text = e.name, SUCCESS;
	return *text = nullptr, INVALID_VALUE;
}

API cuGetErrorString(int code, const char **text) {
	for (auto &e : errors)
		if (e.code == code) return *text = e.text, SUCCESS;
	return *text = nullptr, INVALID_VALUE;
}
