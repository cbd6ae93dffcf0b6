// Small kernels in the style of solver/cuda/kernels/kernels.cu, for the tests of the emulator itself.
#ifdef EMULATOR
#include "emulator.h"
#endif

__constant__ double weights[4] = {1, 2, 3, 4};

// The sum of a block's values, in a fixed order, by all threads.
template <int N> __device__ static double block_sum(double value) {
	__shared__ double sums[N];
	sums[threadIdx.x] = value;
	__syncthreads();
	for (unsigned h = blockDim.x / 2; h > 0; h /= 2) {
		if (threadIdx.x < h) sums[threadIdx.x] += sums[threadIdx.x + h];
		__syncthreads();
	}
	double sum = sums[0];
	__syncthreads();
	return sum;
}

// y = s*scale - z, entry by entry; grid y over the problems of a batch.
extern "C" __global__ void form_y(double *__restrict__ y, const double *__restrict__ s, const double *__restrict__ z, double scale, long n) {
	const long base = blockIdx.y * n;
	for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long)blockDim.x)
		y[base + i] = __ldg(s + base + i) * scale - z[base + i];
}

// partial[block] = the sum of a block's share of x.
extern "C" __global__ void __launch_bounds__(128) partial_sums(double *partial, const double *x, long n) {
	double sum = 0;
	for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long)blockDim.x) sum += x[i];
	sum = block_sum<128>(sum);
	if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// The lower triangle of a from the upper one, by tiles of 16 x 16; blocks of 256 threads.
extern "C" __global__ void mirror_tiles(double *a, long d) {
	__shared__ double tile[16][17];
	const long tiles = (d + 15) / 16, bi = blockIdx.x / tiles, bj = blockIdx.x % tiles;
	if (bi > bj) return;  // the whole block
	const long r = threadIdx.x / 16, c = threadIdx.x % 16;
	if (bi * 16 + r < d && bj * 16 + c < d) tile[r][c] = a[(bi * 16 + r) * d + bj * 16 + c];
	__syncthreads();
	const long i = bj * 16 + r, j = bi * 16 + c;
	if (i < d && j < d && j < i) a[i * d + j] = tile[c][r];
}

extern "C" __global__ void weighted(double *y, const double *x, long n) {
	long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
	if (i >= n) return;
	double s = 0;
#pragma unroll
	for (int k = 0; k < 4; k++) s += weights[k] * x[i];
	y[i] = s;
}

// Mistakes, which the emulator is to find.

extern "C" __global__ void diverge(double *y) {
	if (threadIdx.x < blockDim.x / 2) __syncthreads();
	y[0] = 1;
}

extern "C" __global__ void read_past(double *y, const double *x, long n) { y[0] = x[n + threadIdx.x]; }

extern "C" __global__ void write_far(double *y, long n) { y[n] = 1; }

extern "C" __global__ void write_before(double *y) { y[-1] = 1; }

// Shared memory that was never written, also that of a template.
template <int N> __device__ static double stale() {
	__shared__ double value[N];
	double was = value[0];
	__syncthreads();
	if (threadIdx.x == 0) value[0] = 8;
	return was;
}

extern "C" __global__ void stale_shared(double *y) {
	__shared__ double value[1];
	y[2 * blockIdx.x] = value[0];
	y[2 * blockIdx.x + 1] = stale<1>();
	__syncthreads();
	if (threadIdx.x == 0) value[0] = 7;
	__syncthreads();
}

// A race: every thread reads its neighbour's value without a barrier between.
extern "C" __global__ void race(double *y) {
	__shared__ double value[64];
	value[threadIdx.x] = threadIdx.x;
	y[threadIdx.x] = value[(threadIdx.x + 63) % 64];
	__syncthreads();
}

// Undefined behaviour, where bits is 64 or more.
extern "C" __global__ void shift_far(double *y, long bits) { y[0] = (double)(1L << bits); }

#define KERNEL(block) extern "C" __global__ void __launch_bounds__(block)

KERNEL(256)
with_macro(double *y, long n) { y[0] = n; }
