#include "state.h"

#include <cstdarg>
#include <cstdio>

namespace emulator {

State &state() {
	static State *s = new State;  // never destroyed: threads may outlive main
	return *s;
}

std::vector<void *> &current_stack() {
	// A pointer, not an object: the threads of Go end without C++'s destructors.
	static thread_local std::vector<void *> *stack = nullptr;
	if (!stack) stack = new std::vector<void *>;
	return *stack;
}

void *current_handle() { return current_stack().empty() ? nullptr : current_stack().back(); }

Context *current() {
	auto i = state().contexts.find(current_handle());
	return i == state().contexts.end() ? nullptr : i->second;
}

Call::Call(const char *name, Library l) : hold(state().lock), library(l) {
	Settings &s = settings();
	Position p = call_counted(name);
	if (s.lost_after >= 0 && p.all > s.lost_after) {
		const int codes[] = {LAUNCH_FAILED, cublas::EXECUTION_FAILED, cusolver::EXECUTION_FAILED};
		code = s.lost_code && l == Library::driver ? s.lost_code : codes[int(l)];
		return;
	}
	int64_t number = s.fail_name.empty() ? p.all : s.fail_name == name ? p.named : 0;
	if (s.fail_at && number == s.fail_at) {
		const int codes[] = {UNKNOWN, cublas::INTERNAL_ERROR, cusolver::INTERNAL_ERROR};
		code = s.fail_code ? s.fail_code : codes[int(l)];
		counter("failed_on_request").add(1);
	}
}

static std::string complaint;

const std::string &last_complaint() { return complaint; }

void complain(const std::string &why) {
	complaint = why;
	counter("complaints").add(1);
	fprintf(stderr, "emulator: %s\n", why.c_str());
}

int fault(Context *context, int code, const std::string &why) {
	complain(why);
	counter("faults").add(1);
	if (!context->fault) context->fault = code;
	return code;
}

std::string format(const char *text, ...) {
	char buffer[1024];
	va_list list;
	va_start(list, text);
	vsnprintf(buffer, sizeof buffer, text, list);
	va_end(list);
	return buffer;
}

}  // namespace emulator
