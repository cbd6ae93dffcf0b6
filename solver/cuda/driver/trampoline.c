//go:build cuda && cgo

// The functions of libcuda that gorgonia.org/cu links are those of
// trampoline_$GOARCH.S, which jump to wherever the table says. Nothing is visible
// outside the program: libraries of CUDA must find the driver's own functions.

#define _GNU_SOURCE
#include <dlfcn.h>
#include "trampoline.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN struct {
	const char *name;
	void *function;
} gladflow_cuda_table[], gladflow_cuda_table_end[];

static int filled;

// gladflow_cuda_missing stands in for every function until the driver is open, and
// then for those that this driver does not have.
HIDDEN int gladflow_cuda_missing(void) {
	return filled ? 801 /* CUDA_ERROR_NOT_SUPPORTED */ : 3 /* CUDA_ERROR_NOT_INITIALIZED */;
}

// cuInit is what gorgonia.org/cu calls before main, and ends the process if it fails.
// The driver's own is called by Open.
HIDDEN int cuInit(unsigned int flags) {
	(void)flags;
	return 0;
}

void gladflow_cuda_fill(void *library) {
	for (int i = 0; &gladflow_cuda_table[i] != gladflow_cuda_table_end; i++) {
		void *function = dlsym(library, gladflow_cuda_table[i].name);
		if (function)
			gladflow_cuda_table[i].function = function;
	}
	filled = 1;
}
