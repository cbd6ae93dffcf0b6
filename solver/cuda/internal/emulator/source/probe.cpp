// Prints the OpenBLAS that the libraries would use; 1 where there is none.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "candidates.h"

int main() {
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	for (const char *file : openblas_files) {
		void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
		if (library && dlsym(library, "dgemm_") && dlsym(library, "dsyevd_")) return puts(file), 0;
	}
	return 1;
}
