#include "memory.h"

#include <map>

#include "mapping.h"
#include "state.h"

namespace emulator {

struct Allocation {
	Context *context;
	size_t bytes, charged;
	Mapping mapping;
};

static std::map<uintptr_t, Allocation> &memory() {
	static auto *m = new std::map<uintptr_t, Allocation>;
	return *m;
}
static std::map<int, size_t> charged;  // by device

int device_allocate(Context *context, size_t bytes, uintptr_t *address) {
	if (bytes == 0) return INVALID_VALUE;
	const size_t charge = round_up(bytes, 512), limit = settings().memory;
	if (charge < bytes || charge > limit || charged[context->device] > limit - charge) return OUT_OF_MEMORY;
	Allocation a{context, bytes, charge, {}};
	if (!map(bytes, &a.mapping, address)) return OUT_OF_MEMORY;
	memory()[*address] = a;
	charged[context->device] += charge;
	counter("allocations").add(1);
	counter("allocated_bytes").add(bytes);
	Counter &most = counter("most_allocated_bytes");
	if (counter("allocated_bytes").value > most.value) most.add(counter("allocated_bytes").value - most.value);
	return SUCCESS;
}

void check_guards(Context *context, const char *after) {
	for (auto &[address, a] : memory())
		if (a.context == context) check_guard(a.mapping, address, a.bytes, after);
}

static void release(uintptr_t address, const Allocation &a) {
	charged[a.context->device] -= a.charged;
	unmap(a.mapping, address, a.bytes);
}

int device_free(Context *, uintptr_t address) {
	if (!address) return SUCCESS;
	auto i = memory().find(address);
	if (i == memory().end()) {
		complain(format("cuMemFree: %#lx is no allocation, or was freed before", (long)address));
		counter("bad_frees").add(1);
		return INVALID_VALUE;
	}
	release(address, i->second);
	counter("allocations").add(-1);
	counter("allocated_bytes").add(-int64_t(i->second.bytes));
	memory().erase(i);
	return SUCCESS;
}

bool device_extent(uintptr_t address, Context **context, uintptr_t *base, size_t *bytes) {
	auto i = memory().upper_bound(address);
	if (i == memory().begin()) return false;
	--i;
	if (address > i->first + i->second.bytes) return false;
	*context = i->second.context, *base = i->first, *bytes = i->second.bytes;
	return true;
}

bool on_device(Context *context, uintptr_t address, size_t bytes) {
	Context *owner;
	uintptr_t base;
	size_t size;
	return device_extent(address, &owner, &base, &size) && (!context || owner == context) && bytes <= size - (address - base) && address < base + size;
}

bool anywhere_on_device(uintptr_t address, size_t bytes) { return on_device(nullptr, address, bytes); }

void device_info(int device, size_t *available, size_t *total) {
	*total = settings().memory;
	*available = *total > charged[device] ? *total - charged[device] : 0;
}

void device_abandon(Context *context) {
	for (auto i = memory().begin(); i != memory().end();) {
		if (i->second.context != context) {
			++i;
			continue;
		}
		release(i->first, i->second);
		i = memory().erase(i);
	}
}

}  // namespace emulator
