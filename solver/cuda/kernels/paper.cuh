// The Z step of kinds glad and admmu, see cell_paper.go in solver/glad: with
// A = Θ (+ U),
//
//	Zij ← sign(Aij)·max(|Aij| − ρij, 0)   (U ← A − Z)
//
// for ρij = ρnn(features of (i, j)), and ‖Z − Θ‖²F. The upper triangle is
// computed. toZ may be z, and toU u; u and toU are null for kind glad.
#pragma once
#include "network.cuh"

// soft_threshold is sign(x)·max(|x| − t, 0). Its zero is +0. It is NaN where x or t is.
__device__ static inline double soft_threshold(double x, double t) {
	const double v = fabs(x) - t;
	return v <= 0 ? 0.0 : copysign(v, x);
}

// paper_cell is the cell where rho(i, j, Θij, Sij, Zij) is ρij.
template <class Rho>
__device__ static void paper_cell(double *toZ, double *toU, double *partial, const double *theta,
	const double *s, const double *z, const double *u, long d, Rho rho) {
	const long base = problem() * d * d;
	theta += base, s += base, z += base;
	if (u) u += base;
	double *const to[] = {toZ + base, toU ? toU + base : nullptr};
	sweep(to, partial + problem() * tiles(d), d, [&](long i, long j, long at, double (&v)[2]) {
		const double t = theta[at];
		double a = t;
		if (u) a += u[at];
		v[0] = soft_threshold(a, rho(i, j, t, s[at], z[at]));
		v[1] = a - v[0];
		return v[0] - t;
	});
}

// Three layers of three units with tanh, then one unit with sigmoid, like the paper's.
template <int In> __device__ static inline double paper_threshold(const double (&x)[In]) {
	constexpr int second = 3 * (In + 1), third = second + 12, last = third + 12;
	double a[3], b[3], c[3];
	hidden<0>(x, a);
	hidden<second>(a, b);
	hidden<third>(b, c);
	return weights[last + 4] * sigmoid(output<last, 1>(c));
}

// Of features Θ, S, Z. partial is one sum for each tile.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
paper_cell_3(double *toZ, double *toU, double *partial, const double *theta, const double *s,
	const double *z, const double *u, long d) {
	paper_cell(toZ, toU, partial, theta, s, z, u, d, [](long, long, double t, double sij, double zij) {
		const double x[] = {t, sij, zij};
		return paper_threshold(x);
	});
}

// Of features |Θ|, |S|, |Z|, −ΘS, diagonal.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
paper_cell_5(double *toZ, double *toU, double *partial, const double *theta, const double *s,
	const double *z, const double *u, long d) {
	paper_cell(toZ, toU, partial, theta, s, z, u, d, [](long i, long j, double t, double sij, double zij) {
		const double x[] = {fabs(t), fabs(sij), fabs(zij), -t * sij, i == j ? 1.0 : 0.0};
		return paper_threshold(x);
	});
}

// paper_feature is the feature of that code of an entry.
__device__ static inline double paper_feature(int feature, bool diagonal, double t, double sij, double zij,
	double lambda, double context) {
	switch (feature) {
	case THETA: return t;
	case S: return sij;
	case Z: return zij;
	case ABS_THETA: return fabs(t);
	case ABS_S: return fabs(sij);
	case ABS_Z: return fabs(zij);
	case NEG_THETA_S: return -t * sij;
	case DIAGONAL: return diagonal ? 1.0 : 0.0;
	case LAMBDA: return lambda;
	case CONTEXT: return context;
	}
	return 0.0 / 0.0; // no such feature
}

// Of any network. fixed has of each problem the feature context, and √M, which is not used here.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
paper_cell_any(double *toZ, double *toU, double *partial, const double *theta, const double *s,
	const double *z, const double *u, const double *lambda, const double *fixed, const double *network,
	double *scratch, long d) {
	const generic net(network, scratch);
	const double l = lambda[problem()], context = fixed[FIXED * problem() + FIXED_CONTEXT];
	paper_cell(toZ, toU, partial, theta, s, z, u, d, [&](long i, long j, double t, double sij, double zij) {
		return *net.run([&](int feature) { return paper_feature(feature, i == j, t, sij, zij, l, context); });
	});
}
