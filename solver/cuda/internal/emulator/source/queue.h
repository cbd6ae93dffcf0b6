// Streams. At once by default; with EMULATOR_DEFERRED work waits until something
// synchronises, and streams then take turns in a random order.
#pragma once
#include "state.h"

namespace emulator {

// find_stream returns the stream of a handle in a context, or null: no such stream there.
Stream *find_stream(Context *context, void *handle);

// enqueue gives a stream work. The result is the work's own if it ran at once, else 0.
int enqueue(Stream *stream, std::function<int()> run, std::function<bool()> ready = nullptr);

// named is ready for work of a kernel or a call: when EMULATOR_HOLD does not name it.
std::function<bool()> named(const char *name);

// settle runs work, of all streams, until a stream, a context or a record is done.
int settle(Stream *stream);
int settle(Context *context);
void settle(Record *record);
// wander runs a few pieces of work, so that polling comes to an end.
void wander();
// pick returns a random number below n, of the deferred mode's generator.
uint64_t pick(uint64_t n);

bool idle(const Stream *stream);
bool idle(Context *context);

}  // namespace emulator
