#include "mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "state.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emulator {

static const unsigned char nan_byte = 0xff;  // eight of them are a NaN

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer watches what malloc gives, to the byte in steps of 8.

bool map(size_t bytes, Mapping *m, uintptr_t *address) {
	m->bytes = round_up(bytes, 256);
	if (!(m->start = (char *)aligned_alloc(256, m->bytes))) return false;
	memset(m->start, nan_byte, m->bytes);
	ASAN_POISON_MEMORY_REGION(m->start + round_up(bytes, 8), m->bytes - round_up(bytes, 8));
	*address = (uintptr_t)m->start;
	return true;
}

void unmap(const Mapping &m, uintptr_t, size_t) {
	ASAN_UNPOISON_MEMORY_REGION(m.start, m.bytes);
	free(m.start);
}

void check_guard(const Mapping &, uintptr_t, size_t, const char *) {}

#else

// The closed space on either side: more than a matrix of the tests, to which an index that is
// off by one matrix leads. It costs no memory.
static const size_t closed = 16 << 20;

bool map(size_t bytes, Mapping *m, uintptr_t *address) {
	const size_t open = round_up(round_up(bytes, 16), sysconf(_SC_PAGESIZE));
	m->bytes = open + 2 * closed;
	void *start = mmap(nullptr, m->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED) return false;
	m->start = (char *)start;
	if (mprotect(m->start + closed, open, PROT_READ | PROT_WRITE)) {
		munmap(m->start, m->bytes);
		return false;
	}
	memset(m->start + closed, nan_byte, open);
	*address = (uintptr_t)(m->start + closed + open - round_up(bytes, 16));
	return true;
}

void unmap(const Mapping &m, uintptr_t address, size_t bytes) {
	check_guard(m, address, bytes, "free");
	munmap(m.start, m.bytes);
}

void check_guard(const Mapping &m, uintptr_t address, size_t bytes, const char *after) {
	unsigned char *first = (unsigned char *)m.start + closed, *last = (unsigned char *)m.start + m.bytes - closed;
	unsigned char *begin = (unsigned char *)address, *end = begin + bytes;
	for (unsigned char *p = begin; p-- > first;)
		if (*p != nan_byte) {
			complain(format("%s: byte %ld before an allocation of %zu bytes was written", after, long(begin - p), bytes));
			memset(first, nan_byte, begin - first);
			break;
		}
	for (unsigned char *p = end; p < last; p++)
		if (*p != nan_byte) {
			complain(format("%s: byte %ld behind an allocation of %zu bytes was written", after, long(p - end), bytes));
			memset(end, nan_byte, last - end);
			break;
		}
}

#endif

}  // namespace emulator
