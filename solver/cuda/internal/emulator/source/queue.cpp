#include "queue.h"

#include <cstdlib>
#include <random>

namespace emulator {

static uint64_t given = 0;

uint64_t pick(uint64_t n) {
	static std::mt19937_64 generator;
	static uint64_t seeded = ~uint64_t(0);
	if (seeded != settings().seed) generator.seed(seeded = settings().seed);
	return generator() % n;
}

Stream *find_stream(Context *context, void *handle) {
	if (handle == nullptr || handle == (void *)1) return &context->null_stream;  // 1: CU_STREAM_LEGACY
	Stream *s = state().streams.find(handle);
	return s && s->context == context ? s : nullptr;
}

static std::vector<Stream *> all_streams() {
	std::vector<Stream *> all;
	for (auto &[handle, context] : state().contexts) all.push_back(&context->null_stream);
	state().streams.each([&](Stream &s) { all.push_back(&s); });
	return all;
}

// Work in the null stream waits for what blocking streams were given before it, and the other
// way round.
static bool may_run(Stream *s) {
	if (s->queue.empty()) return false;
	const Work &first = s->queue.front();
	if (s->context->fault) return true;
	if (first.ready && !first.ready()) return false;
	Stream *null_stream = &s->context->null_stream;
	if (s != null_stream) return !s->blocking || null_stream->queue.empty() || null_stream->queue.front().number > first.number;
	bool free = true;
	state().streams.each([&](Stream &other) {
		if (other.context == s->context && other.blocking && !other.queue.empty() && other.queue.front().number < first.number) free = false;
	});
	return free;
}

static int run(Stream *s) {
	Work work = std::move(s->queue.front());
	s->queue.pop_front();
	if (s->context->fault) return s->context->fault;
	int code = work.run();
	if (code && !s->context->fault) s->context->fault = code;
	return code;
}

std::function<bool()> named(const char *name) {
	if (!settings().deferred) return nullptr;
	return [name = std::string(name)] { return settings().hold != name; };
}

// step runs one piece of work of a random stream. False: there is none, or, where the
// caller need not wait, none that may run.
static bool step(bool waits = true) {
	std::vector<Stream *> able;
	bool waiting = false;
	for (Stream *s : all_streams()) {
		waiting |= !s->queue.empty();
		if (may_run(s)) able.push_back(s);
	}
	if (able.empty() && waiting && !waits) return false;
	if (able.empty() && waiting && !settings().hold.empty()) {
		complain("something waits for " + settings().hold + ", which EMULATOR_HOLD holds");
		settings().hold.clear();
		return true;
	}
	if (able.empty() && waiting) {
		complain("streams wait for each other");
		abort();
	}
	if (able.empty()) return false;
	run(able[pick(able.size())]);
	return true;
}

int enqueue(Stream *stream, std::function<int()> work, std::function<bool()> ready) {
	stream->queue.push_back({++given, std::move(ready), std::move(work)});
	counter("works").add(1);
	if (settings().deferred) return SUCCESS;
	while (stream->queue.size() > 1) step();  // left from a deferred time
	while (!may_run(stream)) step();
	return run(stream);
}

int settle(Stream *stream) {
	while (!stream->queue.empty()) step();
	return stream->context->fault;
}

int settle(Context *context) {
	while (!idle(context)) step();
	return context->fault;
}

void settle(Record *record) {
	while (!record->done && step()) {
	}
}

void wander() {
	for (uint64_t n = settings().deferred ? pick(4) : 0; n > 0; n--) step(false);
}

bool idle(const Stream *stream) { return stream->queue.empty(); }

bool idle(Context *context) {
	bool all = context->null_stream.queue.empty();
	state().streams.each([&](Stream &s) { all &= s.context != context || s.queue.empty(); });
	return all;
}

}  // namespace emulator
