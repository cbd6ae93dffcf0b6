// Kernels of the Θ step: Θ = ½(−Y + √(Y² + (4/λ)I)), see dense.LogDetProx.
#pragma once
#include "block.cuh"

// theta = ½(h − y), symmetric: the upper triangles of h and y are read. theta may be
// one of them.
extern "C" __global__ void __launch_bounds__(THREADS)
half_difference(double *theta, const double *h, const double *y, long d) {
	const long base = problem() * d * d;
	h += base, y += base;
	double *const to[] = {theta + base};
	sweep(to, nullptr, d, [&](long, long, long at, double (&v)[1]) {
		v[0] = 0.5 * (h[at] - y[at]);
		return 0.0;
	});
}

// phi = the eigenvalues of Θ, where values are those of Y: dense.LogDetProxValues.
// resolution is its floor. phi may be values.
extern "C" __global__ void __launch_bounds__(ONE)
spectral_values(double *phi, const double *values, const double *lambda, double resolution, long d) {
	phi += problem() * d, values += problem() * d;
	const double l = lambda[problem()], root = 2 / sqrt(l);
	double most = 0;
	for (long i = threadIdx.x; i < d; i += ONE) {
		const double y = values[i], s = hypot(y, root); // y² may overflow
		const double v = y > 0 ? 2 / l / (y + s) : (s - y) / 2; // s − y would cancel
		phi[i] = v;
		most = greater(most, v);
	}
	if (resolution == 0) return;
	const double floor = resolution * block_greatest<ONE>(most);
	for (long i = threadIdx.x; i < d; i += ONE) phi[i] = greater(phi[i], floor);
}

// phi = 1/max(v, floor·the greatest v) of the values v. phi may be values.
extern "C" __global__ void __launch_bounds__(ONE)
inverse_values(double *phi, const double *values, double floor, long d) {
	phi += problem() * d, values += problem() * d;
	double most = values[0];
	for (long i = threadIdx.x; i < d; i += ONE) most = greater(most, values[i]);
	const double least = floor * block_greatest<ONE>(most);
	for (long i = threadIdx.x; i < d; i += ONE) phi[i] = 1 / greater(values[i], least);
}

// to = vectors with row i times φi, or √φi where root is 1. to may be vectors.
extern "C" __global__ void __launch_bounds__(THREADS)
scale_rows(double *to, const double *vectors, const double *phi, long root, long d) {
	const long base = problem() * d * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		const double p = phi[problem() * d + i], f = root ? sqrt(p) : p;
		for (long j = threadIdx.x; j < d; j += THREADS) to[base + i * d + j] = f * vectors[base + i * d + j];
	}
}
