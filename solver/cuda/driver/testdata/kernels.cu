// Kernels for the tests of package driver.
#ifdef EMULATOR
#include "emulator.h"
#endif

__constant__ double weights[4];

// to[block][i] = factor * from[block][i], with block along y.
extern "C" __global__ void scale(double *to, const double *from, double factor, long n) {
	long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
	if (i < n) to[blockIdx.y * n + i] = factor * from[blockIdx.y * n + i];
}

// to[0] = the sum of the weights.
extern "C" __global__ void sum_weights(double *to) {
	if (blockIdx.x == 0 && threadIdx.x == 0) to[0] = weights[0] + weights[1] + weights[2] + weights[3];
}

// Writes where nothing is.
extern "C" __global__ void stray(double *to, long offset) { to[offset] = 1; }
