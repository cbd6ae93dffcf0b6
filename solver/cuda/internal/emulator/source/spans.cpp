#include "spans.h"

#include "memory.h"
#include "queue.h"

namespace emulator {

bool overlap(const Span &a, const Span &b) {
	if (!a.bytes() || !b.bytes()) return false;
	const uintptr_t p = (uintptr_t)a.address, q = (uintptr_t)b.address;
	if (q < p) return overlap(b, a);
	if (q >= p + a.bytes()) return false;
	if (a.ld != b.ld || a.size != b.size || (q - p) % a.size) return true;
	// b begins column columns and row rows behind a; rows past the leading dimension
	// are the next column's.
	const int64_t distance = (q - p) / a.size, column = distance / a.ld, row = distance % a.ld;
	return (row < a.rows && column < a.columns) || (row + b.rows > a.ld && column + 1 < a.columns);
}

static int check(Context *context, const char *call, const std::vector<Span> &spans) {
	for (const Span &s : spans)
		if (s.bytes() && !on_device(context, (uintptr_t)s.address, s.bytes()))
			return fault(context, ILLEGAL_ADDRESS, format("%s: %s, %zu bytes at %p, does not lie in one allocation of this context", call, s.name, s.bytes(), s.address));
	for (const Span &s : spans)
		for (const Span &t : spans)
			if (s.written && &s != &t && overlap(s, t))
				return fault(context, ILLEGAL_ADDRESS, format("%s: %s is written and overlaps %s", call, s.name, t.name));
	return SUCCESS;
}

int device_work(Stream *stream, const char *call, std::vector<Span> spans, std::function<void()> work) {
	Context *context = stream->context;
	return enqueue(stream, [=] {
		if (int code = check(context, call, spans)) return code;
		work();
		check_guards(context, call);
		return int(SUCCESS);
	}, named(call));
}

}  // namespace emulator
