// The files that OpenBLAS goes by, as solver/dense looks for it.
#pragma once

#if defined(__aarch64__)
#define EMULATOR_TRIPLET "aarch64-linux-gnu"
#else
#define EMULATOR_TRIPLET "x86_64-linux-gnu"
#endif

static const char *const openblas_files[] = {
	"libopenblasp.so.0",
	"libopenblas.so.0",
	"libopenblas.so",
	"/usr/lib/" EMULATOR_TRIPLET "/openblas-pthread/libopenblas.so.0",
	"/usr/local/lib/libopenblas.so.0",
	"/usr/local/lib/libopenblas.so",
	"/opt/OpenBLAS/lib/libopenblas.so",
	"/home/linuxbrew/.linuxbrew/opt/openblas/lib/libopenblas.so",
};
