#include "blas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "candidates.h"
#include "state.h"

namespace emulator {

static const Blas *open_library() {
	// As solver/dense does, which may have opened it before: one thread for each caller.
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	for (const char *file : openblas_files) {
		void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		if (!library) continue;
		auto *b = new Blas;
		bool all = true;
#define X(name, result, ...) all &= (b->name = (result(*)(__VA_ARGS__))dlsym(library, #name)) != nullptr;
		EMULATOR_BLAS(X)
#undef X
		if (all) return b;
		delete b;
	}
	complain("there is no OpenBLAS with LAPACK where libraries are kept");
	return nullptr;
}

const Blas *blas() {
	static const Blas *b = open_library();
	return b;
}

}  // namespace emulator
