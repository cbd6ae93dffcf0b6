// The one state of a process that libcuda, libcublas and libcusolver share:
// contexts and what belongs to them, and the entry of every call.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codes.h"
#include "counters.h"
#include "settings.h"

#define API extern "C" __attribute__((visibility("default"))) int

namespace emulator {

struct Context;

// A Work is what a stream has been given to do.
struct Work {
	uint64_t number;                 // of all work, in the order given
	std::function<bool()> ready;     // empty: as soon as it is first
	std::function<int()> run;        // a CUresult: anything but 0 spoils the context
};

struct Stream {
	Context *context;
	bool blocking;  // ordered with the null stream
	std::deque<Work> queue;
};

struct Record {  // one recording of an event
	bool done = false;
	double seconds = 0;
};

struct Event {
	Context *context;
	bool timed;
	std::shared_ptr<Record> last;  // null: never recorded
};

struct Kernel;
struct Module {
	Context *context;
	std::string ptx;
	std::vector<std::unique_ptr<struct Function>> functions;
	std::map<std::string, uintptr_t> globals;  // where this module keeps them
	std::vector<std::pair<void *, std::pair<uintptr_t, size_t>>> constants;  // symbol, its copy
};

struct Function {
	Module *module;
	const Kernel *kernel;
};

struct Context {
	int device;
	int references = 0;
	int fault = 0;  // not 0: every call fails with it from now on
	Stream null_stream;
};

// A Registry gives out handles that are never used again, so that a use after
// destruction is always seen.
template <class T> class Registry {
	std::map<uintptr_t, std::unique_ptr<T>> live;
	Counter &count;

public:
	explicit Registry(const char *name) : count(counter(name)) {}
	void *add(std::unique_ptr<T> object) {
		static uintptr_t next = 0x7e57000000000000;
		live[next += 16] = std::move(object);
		count.add(1);
		return (void *)next;
	}
	T *find(void *handle) {
		auto i = live.find((uintptr_t)handle);
		return i == live.end() ? nullptr : i->second.get();
	}
	void remove(void *handle) {
		if (live.erase((uintptr_t)handle)) count.add(-1);
	}
	// Those of a context that ends go, but stay in the count: nobody gave them back.
	void abandon(Context *context) {
		for (auto i = live.begin(); i != live.end();)
			i = i->second->context == context ? live.erase(i) : std::next(i);
	}
	template <class F> void each(F f) {
		for (auto &[handle, object] : live) f(*object);
	}
};

struct State {
	std::recursive_mutex lock;
	bool initialised = false;
	std::vector<std::unique_ptr<Context>> primary;  // by device; null: not active
	Registry<Stream> streams{"streams"};
	Registry<Event> events{"events"};
	Registry<Module> modules{"modules"};
	std::map<void *, Context *> contexts;  // handle of each live context
};
State &state();

// current is the calling thread's context, or null. A context that has ended is none.
Context *current();
void *current_handle();
std::vector<void *> &current_stack();

enum class Library { driver, cublas, cusolver };

// A Call is the first thing in every function that is exported: it holds the lock, counts,
// and decides whether the call has to fail.
class Call {
	std::unique_lock<std::recursive_mutex> hold;
	Library library;

public:
	int code = 0;
	explicit Call(const char *name, Library library = Library::driver);
	// result is what a call that gives something back returns: it does its work
	// even where it must fail, so that what is left counts as the caller's.
	int result(int done) const { return code ? code : done; }
};

// fault spoils a context and says why, on stderr and in emulator_message.
int fault(Context *context, int code, const std::string &why);
// complain notes a caller's mistake that the real driver would let pass or die of.
void complain(const std::string &why);
const std::string &last_complaint();
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulator

// ENTER begins a driver call; ENTER_CONTEXT one that needs a context, named context.
#define ENTER                     \
	emulator::Call call(__func__); \
	if (call.code) return call.code;
#define NEED_CONTEXT                                               \
	emulator::Context *context = emulator::current();               \
	if (!context) return emulator::current_handle() ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT; \
	if (context->fault) return context->fault;
#define ENTER_CONTEXT ENTER NEED_CONTEXT
