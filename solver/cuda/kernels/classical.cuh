// Kernels of ADMM and AM, which threshold by a penalty: ρij is in rho off the diagonal, or,
// where rho is null, common; ρii is in diagonal (d for each problem).
#pragma once
#include "paper.cuh"

// z = the soft threshold of a at ρ/λ. z may be a.
extern "C" __global__ void __launch_bounds__(THREADS)
shrink(double *z, const double *a, const double *rho, const double *diagonal, double common,
	double lambda, long d) {
	const long base = problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			const double r = i == j ? diagonal[problem() * d + i] : rho ? rho[at] : common;
			z[at] = soft_threshold(a[at], r / lambda);
		}
	}
}

// With V = relaxation·Θ + (1 − relaxation)·Z + U: Z ← the soft threshold of V at ρ/λ, U ← V − Z.
// partial has of each problem four times d sums, by rows: of (Θ − Z)², of (Z − the Z
// before)², of Z² and of U².
extern "C" __global__ void __launch_bounds__(THREADS, 3)
admm_step(double *z, double *u, double *partial, const double *theta, const double *rho,
	const double *diagonal, double common, double lambda, double relaxation, long d) {
	const long base = problem() * d * d;
	partial += problem() * 4 * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double sums[4] = {0, 0, 0, 0};
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			const double r = i == j ? diagonal[problem() * d + i] : rho ? rho[at] : common;
			const double t = theta[at], old = z[at];
			const double v = relaxation * t + (1 - relaxation) * old + u[at];
			const double now = soft_threshold(v, r / lambda), dual = v - now;
			z[at] = now;
			u[at] = dual;
			sums[0] += (t - now) * (t - now);
			sums[1] += (now - old) * (now - old);
			sums[2] += now * now;
			sums[3] += dual * dual;
		}
		for (int k = 0; k < 4; k++) {
			const double total = block_sum<THREADS>(sums[k]);
			if (threadIdx.x == 0) partial[k * d + i] = total;
		}
	}
}
