// What the kernels share: types, the sums and maxima of a block, and the sweep over
// the upper triangle of a symmetric matrix.
//
// A problem of a batch is blockIdx.y. A kernel goes over its work with a step of
// gridDim.x blocks, and what it writes does not depend on gridDim.x. Sums are of
// fixed parts and in a fixed order: the same bits twice.
#pragma once

#ifdef EMULATOR
#include "emulator.h"
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#endif

// Threads of a block. Kernels are bound to them; a second bound is the number of blocks
// that a multiprocessor must have registers for, where the compiler would rather
// spill registers to have more.
constexpr int THREADS = 256; // of most kernels; a multiple of 32, as is ONE
constexpr int ONE = 1024;    // of kernels with one block for each problem

constexpr long TILE = 32; // rows and columns of a tile

__device__ static inline long problem() { return blockIdx.y; }

// first and step are of a loop over n entries of a problem.
__device__ static inline long first() { return blockIdx.x * (long)blockDim.x + threadIdx.x; }
__device__ static inline long step() { return gridDim.x * (long)blockDim.x; }

// greater is NaN where a or b is: fmax is not.
__device__ static inline double greater(double a, double b) { return a > b || a != a ? a : b; }

// block_sum is the sum of v over the threads of the block, in thread 0.
template <int Threads> __device__ static double block_sum(double v) {
	__shared__ double sums[Threads];
	__syncthreads(); // the sums before these have been read
	sums[threadIdx.x] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		for (int k = threadIdx.x + 32; k < Threads; k += 32) v += sums[k];
		sums[threadIdx.x] = v;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		for (int k = 1; k < 32; k++) v += sums[k];
	return v;
}

// block_greatest is the greatest v of the threads of the block, in all of them;
// NaN if one is NaN.
template <int Threads> __device__ static double block_greatest(double v) {
	__shared__ double values[Threads];
	__syncthreads();
	values[threadIdx.x] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		for (int k = threadIdx.x + 32; k < Threads; k += 32) v = greater(v, values[k]);
		values[threadIdx.x] = v;
	}
	__syncthreads();
	v = values[0];
	for (int k = 1; k < 32; k++) v = greater(v, values[k]);
	return v;
}

// tiles is the number of tiles that hold the upper triangle.
__device__ static inline long tiles(long d) {
	long n = (d + TILE - 1) / TILE;
	return n * (n + 1) / 2;
}

// A corner is the first row and column of a tile.
struct corner { long top, left; };

// corner_of is that of tile t of the upper triangle, which are counted by columns.
__device__ static inline corner corner_of(long t) {
	long c = (long)((sqrt(8.0 * (double)t + 1) - 1) / 2);
	while (c * (c + 1) / 2 > t) c--;
	while ((c + 1) * (c + 2) / 2 <= t) c++;
	return {(t - c * (c + 1) / 2) * TILE, c * TILE};
}

// sweep sets matrices, of which those that are null are left out, to what
// entry(i, j, i·d + j, v) puts into v for i ≤ j, and mirrors that. What entry returns
// is squared and summed over the matrix into partial, one sum for each tile, unless
// partial is null.
//
// A matrix may be one that entry reads, at i·d + j only: nothing is read below the
// diagonal.
template <int Outputs, class Entry>
__device__ static void sweep(double *const (&to)[Outputs], double *partial, long d, Entry entry) {
	__shared__ double tile[Outputs][TILE][TILE + 1];
	const long x = threadIdx.x % TILE, rows = THREADS / TILE, n = tiles(d);
	for (long t = blockIdx.x; t < n; t += gridDim.x) {
		const corner c = corner_of(t);
		double sum = 0;
		for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
			const long i = c.top + y, j = c.left + x;
			if (i > j || j >= d) continue;
			double v[Outputs];
			const double off = entry(i, j, i * d + j, v);
			for (int k = 0; k < Outputs; k++) {
				if (to[k]) to[k][i * d + j] = v[k];
				tile[k][y][x] = v[k];
			}
			sum += (i == j ? 1 : 2) * (off * off);
		}
		__syncthreads();
		for (int k = 0; k < Outputs; k++) {
			if (!to[k]) continue;
			for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
				const long i = c.left + y, j = c.top + x;
				if (j < i && i < d) to[k][i * d + j] = tile[k][x][y];
			}
		}
		if (partial) {
			sum = block_sum<THREADS>(sum);
			if (threadIdx.x == 0) partial[t] = sum;
		}
		__syncthreads();
	}
}
