// The way back through the Z step of kinds glad and admmu: see paper.cuh, and
// cell_paper.go in solver/glad.
#pragma once
#include "adjoint.cuh"
#include "paper.cuh"

// byZ and byU are the derivatives by Z and U after the cell, and become those by Z and U
// before it; byTheta becomes that by Θ. byNorm2 (one for each problem) is that by ‖Z − Θ‖²F.
// toZ is Z after the cell. fixed is that of paper_cell_any. u and byU are null for kind
// glad.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
paper_adjoint(double *byTheta, double *byZ, double *byU, double *gradient, const double *theta,
	const double *s, const double *z, const double *toZ, const double *u, const double *byNorm2,
	const double *lambda, const double *fixed, const double *network, double *scratch, long length, long d) {
	const long base = problem() * d * d;
	theta += base, s += base, z += base, toZ += base, byZ += base;
	if (u) u += base, byU += base;
	const adjoint_network net(network, scratch);
	const double l = lambda[problem()], context = fixed[FIXED * problem() + FIXED_CONTEXT], norm = 2 * byNorm2[problem()];
	double *const to[] = {byTheta + base, byZ, byU};
	adjoint_sweep(to, gradient, length, d, [&](long i, long j, long at, bool inside, double (&v)[3], double &, double *slot, double (&sums)[CELL_SUMS]) {
		double t = 0, sij = 0, zij = 0;
		if (inside) {
			t = theta[at], sij = s[at], zij = z[at];
			const double rho = *net.outputs([&](int feature) { return paper_feature(feature, i == j, t, sij, zij, l, context); });
			const double off = toZ[at] - t;
			double g = byZ[at] + norm * off, argument = t, by = 0, byRho = 0;
			if (u) { // U ← argument − Z
				argument += u[at];
				by = byU[at];
				g -= by;
			}
			if (fabs(argument) > rho) {
				by += g;
				byRho = -(i == j ? 1 : 2) * g * sign(argument);
			}
			v[0] = by - norm * off;
			v[1] = 0;
			v[2] = by;
			*net.deltas = byRho;
		}
		const double *by = net.back(inside, slot);
		if (!inside) return;
		const double share = i == j ? 1 : 0.5; // of (i, j) and (j, i)
		for (long f = 0; f < net.features; f++) {
			const double g = by[f * net.apart];
			switch ((int)network[3 + f]) {
			case THETA: v[0] += share * g; break;
			case Z: v[1] += share * g; break;
			case ABS_THETA: v[0] += share * g * sign(t); break;
			case ABS_Z: v[1] += share * g * sign(zij); break;
			case NEG_THETA_S: v[0] -= share * g * sij; break;
			case LAMBDA: sums[BY_LAMBDA] += g; break;
			}
		}
	});
}
