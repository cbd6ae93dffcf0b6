#include "counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

namespace emulator {

static const size_t line = 64, digits = 12, lines = 512;
static char *page = nullptr;
static size_t used = 0;

static std::map<std::string, std::unique_ptr<Counter>> &all() {
	static auto *m = new std::map<std::string, std::unique_ptr<Counter>>;
	return *m;
}

static void write_digits(Counter &c) {
	char text[32];
	snprintf(text, sizeof text, "%*lld", int(digits), (long long)c.value);
	memcpy(c.slot, text, digits);
}

static void write_line(Counter &c) {
	if (!page || used == lines) return;
	char text[line + 1];
	snprintf(text, sizeof text, "%-*s%*lld\n", int(line - digits - 1), c.name.c_str(), int(digits), (long long)c.value);
	memcpy(page + used * line, text, line);
	c.slot = page + used++ * line + line - digits - 1;
}

void Counter::add(int64_t n) {
	value += n;
	if (slot) write_digits(*this);
}

Counter &counter(const std::string &name) {
	auto &c = all()[name];
	if (!c) {
		c = std::make_unique<Counter>();
		c->name = name;
		write_line(*c);
	}
	return *c;
}

void report_to(const std::string &file) {
	for (auto &[name, c] : all()) c->slot = nullptr;
	if (page) munmap(page, line * lines);
	page = nullptr, used = 0;
	if (file.empty()) return;
	int fd = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, line * lines)) {
		perror(("emulator: " + file).c_str());
		_exit(3);
	}
	page = (char *)mmap(nullptr, line * lines, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	memset(page, '\n', line * lines);
	for (auto &[name, c] : all()) write_line(*c);
}

static int64_t calls = 0;
static std::unordered_map<std::string, int64_t> named;

Position call_counted(const char *name) {
	static Counter &total = counter("calls");
	total.add(1);
	counter(std::string("call.") + name).add(1);
	return {++calls, ++named[name]};
}

void restart_counts() { calls = 0, named.clear(); }

}  // namespace emulator
