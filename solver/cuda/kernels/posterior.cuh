// The Z step of kind glad-pm, see cell_posterior.go and PosteriorMean in solver/glad.
// posterior_rows and posterior_mean come first, in any order, then posterior_diagonal
// and at last posterior_entries. toZ may be z.
//
// rows has of each problem six times d numbers, see posterior_row. The host puts
// n(i) and log Sii there. fixed has of each problem the feature context, √M, of which a
// guess stands for an M that is not known, and the features of the table.
#pragma once
#include "network.cuh"

enum posterior_row { NODE, LOG_S, SIGMA, LOG_SIGMA, ROOT_SIGMA, SUPPORT, POSTERIOR_ROWS };

// σ, log σ, √σ and q.
extern "C" __global__ void __launch_bounds__(THREADS)
posterior_rows(double *rows, const double *s, const double *theta, const double *z,
	const double *lambda, long d) {
	const long base = problem() * d * d;
	s += base, theta += base, z += base;
	rows += problem() * POSTERIOR_ROWS * d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double square = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const double v = z[i * d + j];
			if (i != j) square += v * v;
		}
		square = block_sum<THREADS>(square);
		if (threadIdx.x) continue;
		const long at = i * (d + 1);
		const double least = 1e-3 * s[at];
		double sigma = s[at] + lambda[problem()] * (theta[at] - z[at]);
		if (!(sigma > least)) sigma = least; // it may have cancelled
		rows[SIGMA * d + i] = sigma;
		rows[LOG_SIGMA * d + i] = log(sigma);
		rows[ROOT_SIGMA * d + i] = sqrt(sigma);
		rows[SUPPORT * d + i] = log(0.1 + square);
	}
}

// mean (one for each problem) = m = Σ Θii/d.
extern "C" __global__ void __launch_bounds__(ONE)
posterior_mean(double *mean, const double *theta, long d) {
	theta += problem() * d * d;
	double trace = 0;
	for (long i = threadIdx.x; i < d; i += ONE) trace += theta[i * (d + 1)];
	trace = block_sum<ONE>(trace);
	if (blockIdx.x == 0 && threadIdx.x == 0) mean[problem()] = trace / (double)d;
}

// diagonal_feature is the feature of that code of entry (i, i).
__device__ static inline double diagonal_feature(int feature, const double *rows, long i, long d, double t,
	double zii, double u, double mean, double lambda, const double *fixed) {
	switch (feature) {
	case ABS_U: return t - mean;
	case LOG_V: return 2 * rows[LOG_SIGMA * d + i] + 2.6;
	case SCALED_U: return rows[LOG_S * d + i] + 1;
	case PRIOR_Z: return zii - mean;
	case U_Z: return u - mean;
	case DIAGONAL: return 1.0;
	case NODE_CONTEXT: return rows[NODE * d + i];
	case NODE_SUPPORT: return rows[SUPPORT * d + i];
	case MEAN_DIAGONAL: return mean - 4;
	case Z_SCORE: case NODE_CONTRAST: case SUPPORT_CONTRAST: return 0.0;
	case LAMBDA: return lambda;
	case CONTEXT: return fixed[FIXED_CONTEXT];
	}
	return table_feature(feature, fixed);
}

// The diagonal of Z, and nothing else of toZ. gain is softplus(e).
extern "C" __global__ void __launch_bounds__(THREADS, 2)
posterior_diagonal(double *toZ, const double *theta, const double *z, const double *rows,
	const double *mean, const double *lambda, const double *fixed, double gain, const double *network,
	double *scratch, long d) {
	const long base = problem() * d * d;
	rows += problem() * POSTERIOR_ROWS * d;
	const double l = lambda[problem()], m = mean[problem()];
	fixed += FIXED * problem();
	const generic net(network, scratch);
	for (long i = first(); i < d; i += step()) {
		const long at = base + i * (d + 1);
		const double t = theta[at], zii = z[at], sigma = rows[SIGMA * d + i];
		const double u = t + gain * l * (t - zii) / (sigma * sigma);
		const double *out = net.run([&](int feature) { return diagonal_feature(feature, rows, i, d, t, zii, u, m, l, fixed); });
		toZ[at] = m * (1 + 0.3 * out[net.apart]) + sigmoid(out[2 * net.apart] + 1.5) * (u - m);
	}
}

// What the features of an entry i < j are made of.
struct posterior_entry {
	long i, j, d;
	const double *rows;
	double u, z, root; // √(σi·σj)

	__device__ double pair(posterior_row r) const { return rows[r * d + j] + rows[r * d + i]; }
	__device__ double contrast(posterior_row r) const { return rows[r * d + j] - rows[r * d + i]; }
};

// posterior_entries is the cell where output(e) is o0 of the network.
template <class Output>
__device__ static void posterior_entries(double *toZ, double *partial, const double *theta,
	const double *z, const double *rows, const double *lambda, double gain, long d, Output output) {
	const long base = problem() * d * d;
	toZ += base, theta += base, z += base;
	rows += problem() * POSTERIOR_ROWS * d;
	const double move = gain * lambda[problem()];
	double *const to[] = {toZ};
	sweep(to, partial + problem() * tiles(d), d, [&](long i, long j, long at, double (&v)[1]) {
		const double t = theta[at];
		if (i == j) {
			v[0] = toZ[at]; // of posterior_diagonal
			return v[0] - t;
		}
		posterior_entry e = {i, j, d, rows};
		e.z = z[at];
		e.u = t + move / rows[SIGMA * d + i] * (t - e.z) / rows[SIGMA * d + j];
		e.root = rows[ROOT_SIGMA * d + i] * rows[ROOT_SIGMA * d + j];
		const double gate = (1 + tanh(output(e) / 2)) / 2; // sigmoid
		v[0] = e.u * gate;
		if (v[0] == 0) v[0] = 0; // not −0
		return v[0] - t;
	});
}

// abs_u to mean_diagonal, with which the shipped networks begin.
template <int In>
__device__ static inline void common_features(double (&x)[In], const posterior_entry &e, double mean) {
	x[0] = fabs(e.u);
	x[1] = e.pair(LOG_SIGMA) + 2.6;
	x[2] = 4 * fabs(e.u) * e.root;
	x[3] = fabs(e.z);
	x[4] = e.u * e.z;
	x[5] = 0; // diagonal
	x[6] = e.pair(NODE) / 2;
	x[7] = e.pair(SUPPORT) / 2;
	x[8] = mean - 4;
}

// Two layers with tanh, and three outputs of which the first is wanted.
template <int Units, int In> __device__ static inline double posterior_output(const double (&x)[In]) {
	constexpr int second = Units * (In + 1), last = second + Units * (Units + 1);
	double a[Units], b[Units];
	hidden<0>(x, a);
	hidden<second>(a, b);
	return output<last, 3>(b);
}

// partial is one sum for each tile. Of the features abs_u to mean_diagonal, with two
// layers of six units.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
posterior_entries_9(double *toZ, double *partial, const double *theta, const double *z,
	const double *rows, const double *mean, const double *lambda, double gain, long d) {
	const double m = mean[problem()];
	posterior_entries(toZ, partial, theta, z, rows, lambda, gain, d, [&](const posterior_entry &e) {
		double x[9];
		common_features(x, e, m);
		return posterior_output<6>(x);
	});
}

// The same with z_score and context, and layers of eight units.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
posterior_entries_11(double *toZ, double *partial, const double *theta, const double *z,
	const double *rows, const double *mean, const double *lambda, const double *fixed, double gain,
	long d) {
	const double m = mean[problem()];
	fixed += FIXED * problem();
	posterior_entries(toZ, partial, theta, z, rows, lambda, gain, d, [&](const posterior_entry &e) {
		double x[11];
		common_features(x, e, m);
		x[9] = log1p(fixed[FIXED_ROOT_SAMPLES] * fabs(e.u) * e.root);
		x[10] = fixed[FIXED_CONTEXT];
		return posterior_output<8>(x);
	});
}

// The same with contrasts and the features of the table, and layers of 16 units.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
posterior_entries_18(double *toZ, double *partial, const double *theta, const double *z,
	const double *rows, const double *mean, const double *lambda, const double *fixed, double gain,
	long d) {
	const double m = mean[problem()];
	fixed += FIXED * problem();
	posterior_entries(toZ, partial, theta, z, rows, lambda, gain, d, [&](const posterior_entry &e) {
		double x[18];
		common_features(x, e, m);
		x[9] = log1p(fixed[FIXED_ROOT_SAMPLES] * fabs(e.u) * e.root);
		x[10] = fabs(e.contrast(NODE)) / 2;
		x[11] = fabs(e.contrast(SUPPORT)) / 2;
		x[12] = fixed[FIXED_CONTEXT];
#pragma unroll
		for (int k = 0; k < 5; k++) x[13 + k] = fixed[FIXED_TABLE + k];
		return posterior_output<16>(x);
	});
}

// posterior_feature is the feature of that code of an entry i < j.
__device__ static inline double posterior_feature(int feature, const posterior_entry &e, double mean,
	double lambda, const double *fixed) {
	switch (feature) {
	case ABS_U: return fabs(e.u);
	case LOG_V: return e.pair(LOG_SIGMA) + 2.6;
	case SCALED_U: return 4 * fabs(e.u) * e.root;
	case PRIOR_Z: return fabs(e.z);
	case U_Z: return e.u * e.z;
	case DIAGONAL: return 0.0;
	case NODE_CONTEXT: return e.pair(NODE) / 2;
	case NODE_SUPPORT: return e.pair(SUPPORT) / 2;
	case MEAN_DIAGONAL: return mean - 4;
	case Z_SCORE: return log1p(fixed[FIXED_ROOT_SAMPLES] * fabs(e.u) * e.root);
	case NODE_CONTRAST: return fabs(e.contrast(NODE)) / 2;
	case SUPPORT_CONTRAST: return fabs(e.contrast(SUPPORT)) / 2;
	case LAMBDA: return lambda;
	case CONTEXT: return fixed[FIXED_CONTEXT];
	}
	return table_feature(feature, fixed);
}

// Of any network.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
posterior_entries_any(double *toZ, double *partial, const double *theta, const double *z,
	const double *rows, const double *mean, const double *lambda, const double *fixed, double gain,
	const double *network, double *scratch, long d) {
	const generic net(network, scratch);
	const double m = mean[problem()], l = lambda[problem()];
	fixed += FIXED * problem();
	posterior_entries(toZ, partial, theta, z, rows, lambda, gain, d, [&](const posterior_entry &e) {
		return *net.run([&](int feature) { return posterior_feature(feature, e, m, l, fixed); });
	});
}
