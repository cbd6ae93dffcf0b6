// What cuBLAS and cuSOLVER do to memory on the device, checked to its whole extent when its turn comes.
#pragma once
#include "state.h"

namespace emulator {

// A Span is a matrix in columns, or a vector (1 row, increment ld), of doubles or of another size.
struct Span {
	const char *name;
	const void *address;
	int64_t rows, columns, ld;
	bool written = false;
	size_t size = 8;
	size_t bytes() const { return rows <= 0 || columns <= 0 ? 0 : size * (size_t(ld) * (columns - 1) + rows); }
};

inline Span in(const char *name, const void *a, int64_t rows, int64_t columns, int64_t ld) { return {name, a, rows, columns, ld}; }
inline Span out(const char *name, const void *a, int64_t rows, int64_t columns, int64_t ld) { return {name, a, rows, columns, ld, true}; }
inline Span out_bytes(const char *name, const void *a, size_t bytes) { return {name, a, int64_t(bytes), 1, int64_t(bytes), true, 1}; }
inline Span out_ints(const char *name, const void *a, int64_t n) { return {name, a, n, 1, n, true, 4}; }
inline Span vector(const char *name, const void *a, int64_t n, int64_t increment, bool written = false) {
	return {name, a, 1, n, increment < 0 ? -increment : increment, written};
}

// overlap says whether two spans share a byte. It is exact for matrices of one leading dimension.
bool overlap(const Span &a, const Span &b);

// device_work queues work that reads and writes spans. When its turn comes, a span that is
// not in one live allocation of the context, or a written one that overlaps another, is a fault
// of the context; the work is not done then.
int device_work(Stream *stream, const char *call, std::vector<Span> spans, std::function<void()> work);

// A Handle is a library's, for one context.
struct Handle {
	Context *context;
	void *stream = nullptr;
	int pointer_mode = 0;  // cuBLAS: 0 host, 1 device
};

}  // namespace emulator
