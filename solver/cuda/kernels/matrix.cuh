// Kernels on matrices entry by entry, and norms. a of problem b begins at a + b·d·d.
#pragma once
#include "block.cuh"

// y = s/λ − z, + u where u is not null. lambda has one value for each problem.
extern "C" __global__ void __launch_bounds__(THREADS)
theta_argument(double *y, const double *s, const double *z, const double *u, const double *lambda,
	long d) {
	const long base = problem() * d * d;
	const double l = lambda[problem()];
	for (long i = first(); i < d * d; i += step()) {
		double v = s[base + i] / l - z[base + i];
		if (u) v += u[base + i];
		y[base + i] = v;
	}
}

// rows (d for each problem) = Σj |aij|.
extern "C" __global__ void __launch_bounds__(THREADS)
row_norms(double *rows, const double *a, long d) {
	a += problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double sum = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) sum += fabs(a[i * d + j]);
		sum = block_sum<THREADS>(sum);
		if (threadIdx.x == 0) rows[problem() * d + i] = sum;
	}
}

// out (one for each problem) = the greatest of the d values of rows, which are not
// negative; NaN if one is NaN.
extern "C" __global__ void __launch_bounds__(ONE)
largest(double *out, const double *rows, long d) {
	double v = 0;
	for (long i = threadIdx.x; i < d; i += ONE) v = greater(v, rows[problem() * d + i]);
	v = block_greatest<ONE>(v);
	if (blockIdx.x == 0 && threadIdx.x == 0) out[problem()] = v;
}

// a += t·I. t has one value for each problem.
extern "C" __global__ void __launch_bounds__(THREADS)
add_diagonal(double *a, const double *t, long d) {
	a += problem() * d * d;
	for (long i = first(); i < d; i += step()) a[i * (d + 1)] += t[problem()];
}

// mirror copies the upper triangle (row-major: i < j) to the lower one; where lower
// is 1, the other way round.
extern "C" __global__ void __launch_bounds__(THREADS)
mirror(double *a, long lower, long d) {
	__shared__ double tile[TILE][TILE + 1];
	a += problem() * d * d;
	const long x = threadIdx.x % TILE, rows = THREADS / TILE, n = tiles(d);
	for (long t = blockIdx.x; t < n; t += gridDim.x) {
		const corner c = corner_of(t);
		const long fromTop = lower ? c.left : c.top, fromLeft = lower ? c.top : c.left;
		for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
			const long i = fromTop + y, j = fromLeft + x;
			if (i < d && j < d) tile[y][x] = a[i * d + j];
		}
		__syncthreads();
		for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
			const long i = fromLeft + y, j = fromTop + x;
			if (i < d && j < d && (lower ? i < j : i > j)) a[i * d + j] = tile[x][y];
		}
		__syncthreads();
	}
}

// to = factor·from, n numbers for each problem and one factor.
extern "C" __global__ void __launch_bounds__(THREADS)
scale(double *to, const double *from, const double *factor, long n) {
	const long base = problem() * n;
	const double f = factor[problem()];
	for (long i = first(); i < n; i += step()) to[base + i] = f * from[base + i];
}

// to = diagonal·I. diagonal has one value for each problem.
extern "C" __global__ void __launch_bounds__(THREADS)
set_identity(double *to, const double *diagonal, long d) {
	to += problem() * d * d;
	const double v = diagonal[problem()];
	for (long i = blockIdx.x; i < d; i += gridDim.x)
		for (long j = threadIdx.x; j < d; j += THREADS) to[i * d + j] = i == j ? v : 0;
}

// t = a·I + b·w + c·w2. abc has three values for each problem. t may be w or w2.
extern "C" __global__ void __launch_bounds__(THREADS)
polynomial(double *t, const double *w, const double *w2, const double *abc, long d) {
	const long base = problem() * d * d;
	const double a = abc[3 * problem()], b = abc[3 * problem() + 1], c = abc[3 * problem() + 2];
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			const double v = b * w[at] + c * w2[at];
			t[at] = i == j ? a + v : v;
		}
	}
}

// partial (d for each problem) = Σj (wij − Iij)².
extern "C" __global__ void __launch_bounds__(THREADS)
residual(double *partial, const double *w, long d) {
	w += problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double total = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const double v = i == j ? w[i * d + j] - 1 : w[i * d + j];
			total += v * v;
		}
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) partial[problem() * d + i] = total;
	}
}

// out (one for each problem) = the sum of count values.
extern "C" __global__ void __launch_bounds__(ONE)
sum(double *out, const double *partial, long count) {
	partial += problem() * count;
	double total = 0;
	for (long i = threadIdx.x; i < count; i += ONE) total += partial[i];
	total = block_sum<ONE>(total);
	if (blockIdx.x == 0 && threadIdx.x == 0) out[problem()] = total;
}

// aij ← aij·fi·fj, of factors f (d for each problem).
extern "C" __global__ void __launch_bounds__(THREADS)
rescale(double *a, const double *factor, long d) {
	a += problem() * d * d, factor += problem() * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x)
		for (long j = threadIdx.x; j < d; j += THREADS) a[i * d + j] *= factor[i] * factor[j];
}
