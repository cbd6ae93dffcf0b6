// libcuda: modules, functions and launches.
#include <cstring>
#include <fstream>
#include <sstream>

#include "launch.h"
#include "memory.h"
#include "ptx.h"
#include "queue.h"

using namespace emulator;

// newest_ptx is the PTX version that a driver's compiler takes: 8.0 came with 12.0, and every
// driver version since brought the next.
static int newest_ptx() {
	const int version = settings().version, major = version / 1000, minor = version % 1000 / 10;
	if (major > 12) return 90 + minor;
	return major == 12 ? 80 + minor : major == 11 ? 70 + minor : 64;
}

// What the constants held before any module was loaded.
static const std::vector<std::string> &initial_constants() {
	static auto *all = [] {
		auto *v = new std::vector<std::string>;
		for (size_t i = 0; i < constant_count; i++) v->emplace_back((char *)constants[i].address, constants[i].bytes);
		return v;
	}();
	return *all;
}

static void free_constants(Module &m) {
	for (auto &[symbol, copy] : m.constants) device_free(m.context, copy.first);
}

static int load(void **module, const char *image) {
	NEED_CONTEXT
	if (!module || !image) return INVALID_VALUE;
	auto m = std::make_unique<Module>();
	m->context = context;
	m->ptx = image;
	int version, target;
	if (!ptx_header(m->ptx, &version, &target)) return INVALID_PTX;
	if (version > newest_ptx()) return UNSUPPORTED_PTX_VERSION;
	if (target > settings().capability) return NO_BINARY_FOR_GPU;
	for (size_t i = 0; i < constant_count; i++) {
		const Constant &c = constants[i];
		size_t bytes;
		if (!ptx_constant(m->ptx, c.name, &bytes)) continue;
		if (bytes != c.bytes) {
			complain(format("constant %s has %zu bytes in the PTX and %zu in kernels.cu: generate the PTX anew", c.name, bytes, c.bytes));
			free_constants(*m);
			return INVALID_IMAGE;
		}
		uintptr_t copy;
		if (int code = device_allocate(context, bytes, &copy)) {
			free_constants(*m);
			return code;
		}
		memcpy((void *)copy, initial_constants()[i].data(), bytes);
		m->globals[c.name] = copy;
		m->constants.push_back({c.address, {copy, bytes}});
	}
	*module = state().modules.add(std::move(m));
	return SUCCESS;
}

API cuModuleLoadData(void **module, const void *image) {
	ENTER
	return load(module, (const char *)image);
}

API cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
	ENTER
	int code = load(module, (const char *)image);
	// 5 and 6: the buffer for errors of the compiler and its size, 3 and 4: for what it has to say.
	char *errors = nullptr;
	size_t size = 0;
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == 5) errors = (char *)values[i];
		if (options[i] == 6) size = (size_t)(uintptr_t)values[i];
	}
	std::string text = code == INVALID_PTX ? "ptxas fatal   : the emulator found no .version and .target" : code ? "ptxas fatal   : see the error code" : "";
	if (errors && size) strncpy(errors, text.c_str(), size - 1), errors[size - 1] = 0;
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == 6) values[i] = (void *)std::min(text.size(), size);
		if (options[i] == 4) values[i] = nullptr;
	}
	return code;
}

API cuModuleLoad(void **module, const char *file) {
	ENTER
	std::ifstream in(file ? file : "");
	if (!in) return FILE_NOT_FOUND;
	std::stringstream text;
	text << in.rdbuf();
	return load(module, text.str().c_str());
}

static int unload(void *handle) {
	Context *context = current();
	if (!context) return INVALID_CONTEXT;
	Module *m = state().modules.find(handle);
	if (!m || m->context != context) return INVALID_HANDLE;
	settle(context);
	free_constants(*m);
	state().modules.remove(handle);
	return context->fault;
}

API cuModuleUnload(void *module) {
	Call call(__func__);
	return call.result(unload(module));
}

API cuModuleGetFunction(void **function, void *module, const char *name) {
	ENTER_CONTEXT
	Module *m = state().modules.find(module);
	if (!m) return INVALID_HANDLE;
	if (!function || !name) return INVALID_VALUE;
	std::string kinds;
	if (!ptx_entry(m->ptx, name, &kinds)) return NOT_FOUND;
	for (size_t i = 0; i < kernel_count; i++) {
		if (strcmp(kernels[i].name, name) != 0) continue;
		std::string own = kernels[i].kinds;
		for (char &c : own) c = c == 'p' ? 'l' : c;
		if (own != kinds) {
			complain(format("kernel %s has parameters %s in the PTX and %s in kernels.cu (l: integer or pointer, d: double): generate the PTX anew", name, kinds.c_str(), own.c_str()));
			return INVALID_IMAGE;
		}
		m->functions.push_back(std::make_unique<Function>(Function{m, &kernels[i]}));
		*function = m->functions.back().get();
		return SUCCESS;
	}
	complain(format("kernel %s is in the PTX, but not in kernels.cu", name));
	return NOT_FOUND;
}

API cuModuleGetGlobal_v2(uintptr_t *address, size_t *bytes, void *module, const char *name) {
	ENTER_CONTEXT
	Module *m = state().modules.find(module);
	if (!m) return INVALID_HANDLE;
	if (!name) return INVALID_VALUE;
	auto i = m->globals.find(name);
	if (i == m->globals.end()) return NOT_FOUND;
	size_t n = 0;
	ptx_constant(m->ptx, name, &n);
	if (address) *address = i->second;
	if (bytes) *bytes = n;
	return SUCCESS;
}

// find_function finds a function of a module that is loaded.
static Function *find_function(void *handle) {
	Function *found = nullptr;
	state().modules.each([&](Module &m) {
		for (auto &f : m.functions)
			if (f.get() == handle) found = f.get();
	});
	return found;
}

API cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
	ENTER_CONTEXT
	Function *f = find_function(function);
	Stream *s = find_stream(context, stream);
	if (!f || !s || f->module->context != context) return INVALID_HANDLE;
	if (!gx || !gy || !gz || !bx || !by || !bz || gx > 2147483647 || gy > 65535 || gz > 65535) return INVALID_VALUE;
	if (bx > 1024 || by > 1024 || bz > 64 || uint64_t(bx) * by * bz > 1024) return INVALID_VALUE;
	if (shared > 48 << 10) return INVALID_VALUE;
	const size_t count = strlen(f->kernel->kinds);
	if (extra || (count && !parameters)) return INVALID_VALUE;
	// The values are taken now, as the driver does.
	std::vector<uint64_t> arguments(count);
	for (size_t i = 0; i < count; i++) memcpy(&arguments[i], parameters[i], 8);
	const Grid grid{{gx, gy, gz}, {bx, by, bz}};
	return enqueue(s, [=, held = *f] { return run_grid(context, held, grid, arguments); }, named(f->kernel->name));
}

API cuFuncGetAttribute(int *value, int attribute, void *function) {
	ENTER_CONTEXT
	if (!find_function(function)) return INVALID_HANDLE;
	const int values[] = {1024, 0, 0, 0, 32, 80, 80, 0, 48 << 10, 0};
	if (!value || attribute < 0 || attribute > 9) return INVALID_VALUE;
	*value = values[attribute];
	return SUCCESS;
}

API cuFuncSetAttribute(void *function, int attribute, int value) {
	ENTER_CONTEXT
	if (!find_function(function)) return INVALID_HANDLE;
	return (attribute == 8 && value >= 0 && value <= 227 << 10) || attribute == 9 ? SUCCESS : INVALID_VALUE;
}

static int active_blocks(int *blocks, void *function, int block) {
	if (!find_function(function)) return INVALID_HANDLE;
	if (!blocks || block < 1) return INVALID_VALUE;
	*blocks = block > 1024 ? 0 : std::min(32, 2048 / ((block + 31) / 32 * 32));
	return SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block, size_t) {
	ENTER_CONTEXT
	return active_blocks(blocks, function, block);
}

API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function, int block, size_t, unsigned) {
	ENTER_CONTEXT
	return active_blocks(blocks, function, block);
}
