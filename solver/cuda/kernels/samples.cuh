// Kernels on what comes before a solver: samples, and the correlations of a covariance.
#pragma once
#include "block.cuh"

// rows (d for each problem) = Σj Rij², where Rij = Sij over the product of two
// deviations (d for each problem).
extern "C" __global__ void __launch_bounds__(THREADS)
correlation_rows(double *rows, const double *s, const double *deviations, long d) {
	s += problem() * d * d, deviations += problem() * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		const double f = deviations[i];
		double total = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const double r = s[i * d + j] / (f * deviations[j]);
			total += r * r;
		}
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) rows[problem() * d + i] = total;
	}
}

// rows (d for each problem) = the number of j > i with Rij² ≤ limit, of which there is one for
// each problem. NaN where a Rij is.
extern "C" __global__ void __launch_bounds__(THREADS)
correlations_below(double *rows, const double *s, const double *deviations, const double *limit,
	long d) {
	s += problem() * d * d, deviations += problem() * d;
	const double most = limit[problem()];
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		const double f = deviations[i];
		double total = 0;
		for (long j = i + 1 + threadIdx.x; j < d; j += THREADS) {
			const double r = s[i * d + j] / (f * deviations[j]), square = r * r;
			total += square <= most ? 1 : square > most ? 0 : square;
		}
		total = block_sum<THREADS>(total);
		if (threadIdx.x == 0) rows[problem() * d + i] = total;
	}
}

// largest (d) = the greatest |x − shift| of each of the d columns of x, which has
// samples rows; NaN if one is NaN.
extern "C" __global__ void __launch_bounds__(THREADS)
column_largest(double *largest, const double *x, const double *shift, long samples, long d) {
	for (long j = first(); j < d; j += step()) {
		double most = 0;
		for (long i = 0; i < samples; i++) most = greater(most, fabs(x[i * d + j] - shift[j]));
		largest[j] = most;
	}
}

// y = (x − shift)·factor less the mean of its column, which goes to mean (d). y may be x.
extern "C" __global__ void __launch_bounds__(THREADS)
centre(double *y, double *mean, const double *x, const double *shift, const double *factor,
	long samples, long d) {
	for (long j = first(); j < d; j += step()) {
		const double s = shift[j], f = factor[j];
		double total = 0;
		for (long i = 0; i < samples; i++) total += (x[i * d + j] - s) * f;
		total /= (double)samples;
		for (long i = 0; i < samples; i++) y[i * d + j] = (x[i * d + j] - s) * f - total;
		mean[j] = total;
	}
}

// aij ← aij·fi·fj, of factors f (d for each problem).
extern "C" __global__ void __launch_bounds__(THREADS)
rescale(double *a, const double *factor, long d) {
	a += problem() * d * d, factor += problem() * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x)
		for (long j = threadIdx.x; j < d; j += THREADS) a[i * d + j] *= factor[i] * factor[j];
}
