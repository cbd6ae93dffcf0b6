// Page-locked host memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "memory.h"
#include "state.h"

namespace emulator {

struct Pinned {
	size_t bytes, mapped;  // mapped 0: registered, the caller's own
	uint64_t number;
};

static std::map<uintptr_t, Pinned> &pinned() {
	static auto *m = new std::map<uintptr_t, Pinned>;
	return *m;
}
static uint64_t numbers = 0;

int pinned_allocate(Context *, size_t bytes, void **address) {
	if (bytes == 0) return INVALID_VALUE;
	const size_t page = sysconf(_SC_PAGESIZE), mapped = (bytes + page - 1) / page * page;
	// A mapping of its own, so that a use after it was given back is no
	// use of other memory.
	void *p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return OUT_OF_MEMORY;
	memset(p, 0xff, mapped);
	pinned()[(uintptr_t)p] = {bytes, mapped, ++numbers};
	counter("pinned").add(1);
	counter("pinned_bytes").add(bytes);
	*address = p;
	return SUCCESS;
}

static int give_back(void *address, bool own) {
	auto i = pinned().find((uintptr_t)address);
	if (i == pinned().end() || (i->second.mapped != 0) != own) return -1;
	if (own) munmap(address, i->second.mapped);
	counter("pinned").add(-1);
	counter("pinned_bytes").add(-int64_t(i->second.bytes));
	pinned().erase(i);
	return SUCCESS;
}

int pinned_free(void *address) {
	if (give_back(address, true) == SUCCESS) return SUCCESS;
	complain(format("cuMemFreeHost: %p is no pinned memory, or was freed before", address));
	counter("bad_frees").add(1);
	return INVALID_VALUE;
}

int pinned_register(void *address, size_t bytes) {
	if (!address || !bytes) return INVALID_VALUE;
	auto i = pinned().lower_bound((uintptr_t)address);
	if (i != pinned().end() && i->first < (uintptr_t)address + bytes) return HOST_MEMORY_ALREADY_REGISTERED;
	if (pinned_number(address, 1)) return HOST_MEMORY_ALREADY_REGISTERED;
	pinned()[(uintptr_t)address] = {bytes, 0, ++numbers};
	counter("pinned").add(1);
	counter("pinned_bytes").add(bytes);
	return SUCCESS;
}

int pinned_unregister(void *address) { return give_back(address, false) == SUCCESS ? SUCCESS : HOST_MEMORY_NOT_REGISTERED; }

uint64_t pinned_number(const void *address, size_t bytes) {
	const uintptr_t p = (uintptr_t)address;
	auto i = pinned().upper_bound(p);
	if (i == pinned().begin()) return 0;
	--i;
	return p - i->first < i->second.bytes && bytes <= i->second.bytes - (p - i->first) ? i->second.number : 0;
}

}  // namespace emulator
