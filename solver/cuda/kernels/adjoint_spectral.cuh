// The way back through the Θ step by way of the eigendecomposition of Y, and the loss: see
// cell_theta.go and tape.go in solver/glad.
#pragma once
#include "block.cuh"

// In the basis of the eigenvectors of Y, whose eigenvalues are values, and those of Θ phi:
// h, the derivative by Θ, becomes that by Y. The divided differences of φ are
// −(φi + φj)/(si + sj) for s = √(y² + 4/λ). rows (d for each problem) = −hii/si before,
// which sum to λ² times the derivative by λ at fixed Y.
extern "C" __global__ void __launch_bounds__(THREADS)
divided_differences(double *h, double *rows, const double *values, const double *phi, const double *lambda,
	long d) {
	h += problem() * d * d;
	values += problem() * d, phi += problem() * d;
	const double root = 2 / sqrt(lambda[problem()]);
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		const double s = hypot(values[i], root), p = phi[i];
		if (threadIdx.x == 0) rows[problem() * d + i] = -h[i * (d + 1)] / s;
		__syncthreads();
		for (long j = threadIdx.x; j < d; j += THREADS) h[i * d + j] *= -(p + phi[j]) / (s + hypot(values[j], root));
	}
}

// With Y = S/λ − Z (+ U): byZ −= h, the derivative by Y, and byU += h unless it is null.
// rows (d for each problem) = −Σj hij·Sij.
extern "C" __global__ void __launch_bounds__(THREADS)
theta_argument_adjoint(double *byZ, double *byU, double *rows, const double *h, const double *s, long d) {
	const long base = problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double total = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			const double v = h[at];
			total -= v * s[at];
			byZ[at] -= v;
			if (byU) byU[at] += v;
		}
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) rows[problem() * d + i] = total;
	}
}

// by += factor·(x − truth), with one factor for each problem. rows (d for each problem) =
// Σj (xij − truthij)².
extern "C" __global__ void __launch_bounds__(THREADS)
add_loss(double *by, double *rows, const double *x, const double *truth, const double *factor, long d) {
	const long base = problem() * d * d;
	const double f = factor[problem()];
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double total = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			const double e = x[at] - truth[at];
			by[at] += f * e;
			total += e * e;
		}
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) rows[problem() * d + i] = total;
	}
}

// rows (d for each problem) = Σj aij·bij.
extern "C" __global__ void __launch_bounds__(THREADS)
row_products(double *rows, const double *a, const double *b, long d) {
	const long base = problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double total = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) total += a[base + i * d + j] * b[base + i * d + j];
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) rows[problem() * d + i] = total;
	}
}
