// The way back through the Z step of kind glad-pm: see posterior.cuh, and
// cell_posterior.go in solver/glad. posterior_rows and posterior_mean come first, then
// posterior_adjoint_entries, posterior_adjoint_diagonal, posterior_adjoint_rows,
// collect_gradient and posterior_adjoint_end, in this order.
//
// byZ is the derivative by Z after the cell, and becomes that by Z before it; byTheta
// becomes that by Θ. byNorm2 (one for each problem) is that by ‖Z − Θ‖²F. toZ is Z after
// the cell. Row i of byLogSigma has the derivatives by log σi and that of bySupport those
// by q(i), to be summed.
#pragma once
#include "adjoint.cuh"
#include "posterior.cuh"

// Off the diagonal.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
posterior_adjoint_entries(double *byTheta, double *byZ, double *byLogSigma, double *bySupport, double *gradient,
	const double *theta, const double *z, const double *toZ, const double *rows, const double *mean,
	const double *byNorm2, const double *lambda, const double *fixed, double gain, const double *network,
	double *scratch, long length, long d) {
	const long base = problem() * d * d;
	theta += base, z += base, toZ += base, byZ += base;
	rows += problem() * POSTERIOR_ROWS * d;
	const adjoint_network net(network, scratch);
	const double m = mean[problem()], l = lambda[problem()], norm = 2 * byNorm2[problem()];
	fixed += FIXED * problem();
	double *const to[] = {byTheta + base, byZ, byLogSigma + base, bySupport + base};
	adjoint_sweep(to, gradient, length, d, [&](long i, long j, long at, bool inside, double (&v)[4], double &contrast, double *slot, double (&sums)[CELL_SUMS]) {
		posterior_entry e = {i, j, d, rows};
		double move = 0, sigma = 0, byU = 0;
		v[0] = v[1] = v[2] = v[3] = 0;
		if (inside && i == j) v[1] = byZ[at]; // for posterior_adjoint_diagonal
		inside = inside && i < j;
		if (inside) {
			const double t = theta[at];
			e.z = z[at];
			move = t - e.z;
			sigma = rows[SIGMA * d + i] * rows[SIGMA * d + j];
			e.u = t + gain * l / rows[SIGMA * d + i] * move / rows[SIGMA * d + j];
			e.root = rows[ROOT_SIGMA * d + i] * rows[ROOT_SIGMA * d + j];
			const double out = *net.outputs([&](int feature) { return posterior_feature(feature, e, m, l, fixed); });
			const double gate = (1 + tanh(out / 2)) / 2; // sigmoid
			const double off = toZ[at] - t, g = 2 * (byZ[at] + norm * off);
			v[0] = -2 * norm * off;
			byU = g * gate;
			net.deltas[0] = g * e.u * gate * (1 - gate);
			net.deltas[net.apart] = net.deltas[2 * net.apart] = 0;
		}
		const double *by = net.back(inside, slot);
		if (!inside) return;
		for (long f = 0; f < net.features; f++) {
			const double g = by[f * net.apart];
			switch ((int)network[3 + f]) {
			case ABS_U: byU += g * sign(e.u); break;
			case LOG_V: v[2] += g; break;
			case SCALED_U:
				byU += 4 * g * e.root * sign(e.u);
				v[2] += 2 * g * e.root * fabs(e.u);
				break;
			case PRIOR_Z: v[1] += g * sign(e.z); break;
			case U_Z:
				byU += g * e.z;
				v[1] += g * e.u;
				break;
			case NODE_SUPPORT: v[3] += g / 2; break;
			// By q(i), where that by q(j) is the opposite.
			case SUPPORT_CONTRAST: contrast -= g / 2 * sign(e.contrast(SUPPORT)); break;
			case MEAN_DIAGONAL: sums[BY_MEAN] += g; break;
			case Z_SCORE: {
				const double perU = fixed[FIXED_ROOT_SAMPLES] * e.root, w = perU * fabs(e.u), byW = g / (1 + w);
				byU += byW * perU * sign(e.u);
				v[2] += byW * w / 2;
				break;
			}
			case LAMBDA: sums[BY_LAMBDA] += g; break;
			}
		}
		// u = Θ + gain·λ(Θ − Z)/v
		const double perV = byU / sigma, byG = gain * perV;
		sums[BY_GAIN] += perV * l * move;
		sums[BY_LAMBDA] += byG * move;
		v[0] = (v[0] + byU + l * byG) / 2;
		v[1] = (v[1] - l * byG) / 2;
		v[2] -= byG * l * move;
	});
}

// The diagonal, in one block for each problem. It fills the last slot.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
posterior_adjoint_diagonal(double *byTheta, double *byZ, double *byLogSigma, double *bySupport, double *gradient,
	const double *theta, const double *z, const double *toZ, const double *rows, const double *mean,
	const double *byNorm2, const double *lambda, const double *fixed, double gain, const double *network,
	double *scratch, long length, long d) {
	if (blockIdx.x > 0) return;
	const long base = problem() * d * d;
	rows += problem() * POSTERIOR_ROWS * d;
	const adjoint_network net(network, scratch);
	const double m = mean[problem()], l = lambda[problem()], norm = 2 * byNorm2[problem()];
	fixed += FIXED * problem();
	double *const slot = gradient + (problem() * (slots(d) + 1) + slots(d)) * length;
	double sums[CELL_SUMS] = {0, 0, 0};
	empty_slot(slot, length);
	for (long from = 0; from < d; from += THREADS) {
		const long i = from + threadIdx.x, at = base + i * (d + 1);
		const bool inside = i < d;
		double t = 0, zii = 0, sigma = 1, u = 0, byT = 0, byZii = 0, byU = 0, byLog = 0, byQ = 0;
		if (inside) {
			t = theta[at], zii = z[at], sigma = rows[SIGMA * d + i];
			u = t + gain * l * (t - zii) / (sigma * sigma);
			const double *out = net.outputs([&](int feature) { return diagonal_feature(feature, rows, i, d, t, zii, u, m, l, fixed); });
			const double off = toZ[at] - t, g = byZ[at] + norm * off, mix = sigmoid(out[2 * net.apart] + 1.5);
			byT = -norm * off;
			byU = g * mix;
			sums[BY_MEAN] += g * (1 + 0.3 * out[net.apart] - mix);
			net.deltas[0] = 0;
			net.deltas[net.apart] = g * 0.3 * m;
			net.deltas[2 * net.apart] = g * mix * (1 - mix) * (u - m);
		}
		const double *by = net.back(inside, slot);
		if (!inside) continue;
		for (long f = 0; f < net.features; f++) {
			const double g = by[f * net.apart];
			switch ((int)network[3 + f]) {
			case ABS_U:
				byT += g;
				sums[BY_MEAN] -= g;
				break;
			case LOG_V: byLog += 2 * g; break;
			case PRIOR_Z:
				byZii += g;
				sums[BY_MEAN] -= g;
				break;
			case U_Z:
				byU += g;
				sums[BY_MEAN] -= g;
				break;
			case NODE_SUPPORT: byQ += g; break;
			case MEAN_DIAGONAL: sums[BY_MEAN] += g; break;
			case LAMBDA: sums[BY_LAMBDA] += g; break;
			}
		}
		const double move = t - zii, perV = byU / (sigma * sigma), byG = gain * perV;
		sums[BY_GAIN] += perV * l * move;
		sums[BY_LAMBDA] += byG * move;
		byTheta[at] = byT + byU + l * byG;
		byZ[at] = byZii - l * byG;
		byLogSigma[at] = byLog - 2 * byG * l * move;
		bySupport[at] = byQ;
	}
	end_slot(slot, length, sums);
}

// Sums the rows of byLogSigma and of bySupport: by log σi to Θii, Zii and byLambda (d for
// each problem, to be summed), and by Σ Zij² to byRows (d for each problem).
extern "C" __global__ void __launch_bounds__(THREADS)
posterior_adjoint_rows(double *byTheta, double *byZ, double *byLambda, double *byRows, const double *byLogSigma,
	const double *bySupport, const double *s, const double *theta, const double *z, const double *rows,
	const double *lambda, long d) {
	const long base = problem() * d * d;
	rows += problem() * POSTERIOR_ROWS * d;
	const double l = lambda[problem()];
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		double log = 0, q = 0;
		for (long j = threadIdx.x; j < d; j += THREADS) {
			log += byLogSigma[base + i * d + j];
			q += bySupport[base + i * d + j];
		}
		log = block_sum<THREADS>(log);
		q = block_sum<THREADS>(q);
		if (threadIdx.x) continue;
		const long at = base + i * (d + 1);
		const double off = theta[at] - z[at];
		double g = log / rows[SIGMA * d + i];
		if (!(s[at] + l * off > 1e-3 * s[at])) g = 0; // σi is at its bound
		byTheta[at] += l * g;
		byZ[at] -= l * g;
		byLambda[problem() * d + i] = g * off;
		byRows[problem() * d + i] = q / exp(rows[SUPPORT * d + i]);
	}
}

// By Σ Zij² to Z off the diagonal, and by the mean of the diagonal, of sums, to Θii.
extern "C" __global__ void __launch_bounds__(THREADS)
posterior_adjoint_end(double *byTheta, double *byZ, const double *z, const double *byRows, const double *sums,
	long d) {
	const long base = problem() * d * d;
	byRows += problem() * d;
	const double byMean = sums[problem() * CELL_SUMS + BY_MEAN] / (double)d;
	for (long i = blockIdx.x; i < d; i += gridDim.x) {
		for (long j = threadIdx.x; j < d; j += THREADS) {
			const long at = base + i * d + j;
			if (i == j) byTheta[at] += byMean;
			else byZ[at] += z[at] * (byRows[i] + byRows[j]);
		}
	}
}
