// libcuda: streams and events.
#include <chrono>

#include "queue.h"

using namespace emulator;

static int create(void **stream, unsigned flags) {
	NEED_CONTEXT
	if (!stream || flags > 1) return INVALID_VALUE;
	auto s = std::make_unique<Stream>();
	s->context = context;
	s->blocking = flags == 0;  // 1: CU_STREAM_NON_BLOCKING
	*stream = state().streams.add(std::move(s));
	return SUCCESS;
}

API cuStreamCreate(void **stream, unsigned flags) {
	ENTER
	return create(stream, flags);
}

API cuStreamCreateWithPriority(void **stream, unsigned flags, int) {
	ENTER
	return create(stream, flags);
}

static int destroy_stream(void *handle) {
	Context *context = current();
	if (!context) return INVALID_CONTEXT;
	Stream *s = state().streams.find(handle);
	if (!s || s->context != context) return INVALID_HANDLE;
	settle(s);
	state().streams.remove(handle);
	return context->fault;
}

API cuStreamDestroy_v2(void *stream) {
	Call call(__func__);
	return call.result(destroy_stream(stream));
}

API cuStreamSynchronize(void *stream) {
	ENTER_CONTEXT
	Stream *s = find_stream(context, stream);
	return s ? settle(s) : INVALID_HANDLE;
}

API cuStreamQuery(void *stream) {
	ENTER_CONTEXT
	Stream *s = find_stream(context, stream);
	if (!s) return INVALID_HANDLE;
	wander();
	return context->fault ? context->fault : idle(s) ? SUCCESS : NOT_READY;
}

API cuStreamGetFlags(void *stream, unsigned *flags) {
	ENTER_CONTEXT
	Stream *s = find_stream(context, stream);
	if (!s) return INVALID_HANDLE;
	*flags = !s->blocking;
	return SUCCESS;
}

API cuStreamGetPriority(void *stream, int *priority) {
	ENTER_CONTEXT
	if (!find_stream(context, stream)) return INVALID_HANDLE;
	*priority = 0;
	return SUCCESS;
}

API cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
	ENTER_CONTEXT
	Stream *s = find_stream(context, stream);
	Event *e = state().events.find(event);
	if (!s || !e) return INVALID_HANDLE;
	if (flags > 1) return INVALID_VALUE;
	std::shared_ptr<Record> record = e->last;
	if (!record) return SUCCESS;  // never recorded: nothing to wait for
	Context *other = e->context;
	return enqueue(s, [] { return int(SUCCESS); }, [=] { return record->done || other->fault; });
}

API cuEventCreate(void **event, unsigned flags) {
	ENTER_CONTEXT
	if (!event || flags > 3) return INVALID_VALUE;
	auto e = std::make_unique<Event>();
	e->context = context;
	e->timed = !(flags & 2);  // CU_EVENT_DISABLE_TIMING
	*event = state().events.add(std::move(e));
	return SUCCESS;
}

static int destroy_event(void *handle) {
	if (!current()) return INVALID_CONTEXT;
	if (!state().events.find(handle)) return INVALID_HANDLE;
	state().events.remove(handle);
	return current()->fault;
}

API cuEventDestroy_v2(void *event) {
	Call call(__func__);
	return call.result(destroy_event(event));
}

API cuEventRecord(void *event, void *stream) {
	ENTER_CONTEXT
	Stream *s = find_stream(context, stream);
	Event *e = state().events.find(event);
	if (!s || !e || e->context != context) return INVALID_HANDLE;
	auto record = std::make_shared<Record>();
	e->last = record;
	return enqueue(s, [=] {
		record->done = true;
		record->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
		return int(SUCCESS);
	});
}

API cuEventQuery(void *event) {
	ENTER_CONTEXT
	Event *e = state().events.find(event);
	if (!e) return INVALID_HANDLE;
	wander();
	return context->fault ? context->fault : !e->last || e->last->done ? SUCCESS : NOT_READY;
}

API cuEventSynchronize(void *event) {
	ENTER_CONTEXT
	Event *e = state().events.find(event);
	if (!e) return INVALID_HANDLE;
	if (e->last) settle(e->last.get());
	return context->fault;
}

static int elapsed(float *milliseconds, void *first, void *last) {
	NEED_CONTEXT
	Event *a = state().events.find(first), *b = state().events.find(last);
	if (!a || !b || !a->timed || !b->timed || !a->last || !b->last) return INVALID_HANDLE;
	if (!milliseconds) return INVALID_VALUE;
	if (!a->last->done || !b->last->done) return NOT_READY;
	*milliseconds = float((b->last->seconds - a->last->seconds) * 1e3);
	return SUCCESS;
}

API cuEventElapsedTime(float *milliseconds, void *first, void *last) {
	ENTER
	return elapsed(milliseconds, first, last);
}

API cuEventElapsedTime_v2(float *milliseconds, void *first, void *last) {
	ENTER
	return elapsed(milliseconds, first, last);
}
