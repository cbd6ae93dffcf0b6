#include "settings.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "counters.h"

extern char **environ;

namespace emulator {

static void read_environment();

Settings &settings() {
	static Settings *s = nullptr;
	if (!s) {
		s = new Settings;
		read_environment();
	}
	return *s;
}

static std::string with_process(std::string file) {
	auto at = file.find("%p");
	return at == std::string::npos ? file : file.replace(at, 2, std::to_string(getpid()));
}

bool set(const std::string &name, const std::string &value) {
	Settings &s = settings();
	const char *v = value.c_str();
	bool on = !value.empty() && value != "0";
	if (name == "EMULATOR_NO_DEVICE") s.no_device = on;
	else if (name == "EMULATOR_BUSY") s.busy = on;
	else if (name == "EMULATOR_DEFERRED") s.deferred = !value.empty(), s.seed = strtoull(v, nullptr, 10);
	else if (name == "EMULATOR_HOLD") s.hold = value;
	else if (name == "EMULATOR_DEVICES") s.devices = value.empty() ? 1 : atoi(v);
	else if (name == "EMULATOR_DRIVER_VERSION") s.version = value.empty() ? 12090 : atoi(v);
	else if (name == "EMULATOR_MULTIPROCESSORS") s.multiprocessors = value.empty() ? 8 : atoi(v);
	else if (name == "EMULATOR_CAPABILITY") s.capability = value.empty() ? 90 : atoi(v);
	else if (name == "EMULATOR_MEMORY") s.memory = value.empty() ? size_t(4) << 30 : strtoull(v, nullptr, 10);
	else if (name == "EMULATOR_FAIL_CODE") s.fail_code = atoi(v);
	else if (name == "EMULATOR_LOST_CODE") s.lost_code = atoi(v);
	else if (name == "EMULATOR_LOST_AFTER") s.lost_after = value.empty() ? -1 : atoll(v), restart_counts();
	else if (name == "EMULATOR_REPORT") report_to(s.report = with_process(value));
	else if (name == "EMULATOR_FAIL") {
		auto colon = value.find(':');
		s.fail_name = colon == std::string::npos ? "" : value.substr(0, colon);
		s.fail_at = atoll(colon == std::string::npos ? v : v + colon + 1);
		restart_counts();
	} else
		return false;
	return true;
}

static void read_environment() {
	for (char **e = environ; *e; e++) {
		const char *equals = strchr(*e, '=');
		if (strncmp(*e, "EMULATOR_", 9) != 0 || !equals) continue;
		std::string name(*e, equals - *e);
		// A misspelt setting would make a test pass for nothing.
		if (!set(name, equals + 1)) {
			fprintf(stderr, "emulator: there is no setting %s\n", name.c_str());
			abort();
		}
	}
}

}  // namespace emulator
