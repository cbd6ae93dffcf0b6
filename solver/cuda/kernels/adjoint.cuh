// The way back through an entry-wise network, of any shape: from the derivatives of the
// loss by its outputs to those by its weights and features. See gradient.go and network.go
// in solver/glad.
//
// The derivatives by the weights are sums over the entries. They go into slots: the tiles
// of the upper triangle go round the slots, whatever the number of blocks, and
// collect_gradient adds the slots in their order. A slot has the derivatives by the
// weights, layer after layer as they lie in the description, and after them three sums
// of the cell: by λ, by the mean of the diagonal and by the gain.
#pragma once
#include "network.cuh"

constexpr long SLOTS = 256;
enum cell_sum { BY_LAMBDA, BY_MEAN, BY_GAIN, CELL_SUMS };

// slots is how many of a problem have tiles. One more is that of the diagonal.
__device__ static inline long slots(long d) {
	const long n = tiles(d);
	return n < SLOTS ? n : SLOTS;
}

__device__ static inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// An adjoint_network goes to the outputs of one entry for each thread of a block, and
// back. scratch is of each thread the features, the units of all layers and 2·width
// numbers, which lie apart by the number of threads.
struct adjoint_network {
	const double *network;
	long features, layers, width, apart;
	double *values, *deltas; // of this thread

	__device__ adjoint_network(const double *network, double *scratch) : network(network) {
		features = (long)network[0], layers = (long)network[1], width = (long)network[2];
		const long block = blockIdx.y * (long)gridDim.x + blockIdx.x;
		values = scratch + block * blockDim.x + threadIdx.x;
		apart = (long)gridDim.x * gridDim.y * blockDim.x;
		long units = features;
		const double *at = network + 3 + features;
		for (long l = 0; l < layers; l++) {
			units += (long)at[0];
			at += 4 + (long)at[0] * ((long)at[1] + 1);
		}
		deltas = values + units * apart;
	}

	// outputs evaluates the network at value(code) of each feature and returns the
	// outputs, which lie apart. It keeps what back needs.
	template <class Value> __device__ const double *outputs(Value value) const {
		double *x = values;
		for (long f = 0; f < features; f++) x[f * apart] = value((int)network[3 + f]);
		const double *at = network + 3 + features;
		for (long l = 0; l < layers; l++) {
			const long units = (long)at[0], below = (long)at[1];
			double *const y = x + below * apart;
			for (long u = 0; u < units; u++) y[u * apart] = unit(at, u, x);
			at += 4 + units * (below + 1);
			x = y;
		}
		return x;
	}

	// unit is that of number u of the layer at, where x is below.
	__device__ double unit(const double *at, long u, const double *x) const {
		const long units = (long)at[0], below = (long)at[1];
		const double *w = at + 4 + u * below;
		double v = at[4 + units * below + u];
		for (long j = 0; j < below; j++) v += w[j] * x[j * apart];
		switch ((int)at[2]) {
		case TANH: v = tanh(v); break;
		case SIGMOID: v = sigmoid(v); break;
		case EXP: v = exp(v); break;
		}
		return at[3] * v;
	}

	// slope is the derivative of scale·activation where that is y.
	__device__ static double slope(int activation, double scale, double y) {
		switch (activation) {
		case TANH: return scale - y * y / scale;
		case SIGMOID: return y * (1 - y / scale);
		case EXP: return y;
		}
		return scale;
	}

	// back goes from the derivatives by the outputs, which are in deltas, to those by the
	// features, which it returns: they lie apart. It adds those by the weights to gradient.
	// All threads of the block come here, with inside where they have an entry.
	__device__ const double *back(bool inside, double *gradient) const {
		__shared__ bool counts[THREADS];
		counts[threadIdx.x] = inside;
		double *delta = deltas, *lower = deltas + width * apart;
		for (long l = layers - 1; l >= 0; l--) {
			const double *at = network + 3 + features;
			double *x = values, *to = gradient;
			for (long k = 0; k < l; k++) {
				const long units = (long)at[0], below = (long)at[1];
				x += below * apart, to += units * (below + 1), at += 4 + units * (below + 1);
			}
			const long units = (long)at[0], below = (long)at[1];
			const double *const y = x + below * apart, *const w = at + 4;
			if (inside)
				for (long u = 0; u < units; u++) delta[u * apart] *= slope((int)at[2], at[3], y[u * apart]);
			__syncthreads();
			add(to, units, below, delta - threadIdx.x, x - threadIdx.x, counts);
			if (inside) {
				for (long j = 0; j < below; j++) {
					double v = 0;
					for (long u = 0; u < units; u++) v += w[u * below + j] * delta[u * apart];
					lower[j * apart] = v;
				}
			}
			double *const t = delta;
			delta = lower, lower = t;
		}
		__syncthreads(); // of what was kept of other threads
		return delta;
	}

	// add adds the derivatives by the weights and biases of a layer to to: a thread has
	// some of them, and goes over the entries of the block.
	__device__ void add(double *to, long units, long below, const double *delta, const double *x, const bool *counts) const {
		for (long p = threadIdx.x; p < units * (below + 1); p += blockDim.x) {
			const bool bias = p >= units * below;
			const double *by = delta + (bias ? p - units * below : p / below) * apart;
			const double *from = bias ? nullptr : x + p % below * apart;
			double total = 0;
			for (long e = 0; e < THREADS; e++)
				if (counts[e]) total += bias ? by[e] : by[e] * from[e];
			to[p] += total;
		}
	}
};

// empty_slot sets a slot of length numbers to 0.
__device__ static inline void empty_slot(double *slot, long length) {
	for (long p = threadIdx.x; p < length; p += blockDim.x) slot[p] = 0;
	__syncthreads();
}

// end_slot puts the sums of the threads behind the derivatives by the weights.
__device__ static inline void end_slot(double *slot, long length, const double (&sums)[CELL_SUMS]) {
	for (int k = 0; k < CELL_SUMS; k++) {
		const double v = block_sum<THREADS>(sums[k]);
		if (threadIdx.x == 0) slot[length - CELL_SUMS + k] = v;
	}
}

// adjoint_sweep sets matrices, of which those that are null are left out, to what
// entry(i, j, i·d + j, inside, v, contrast, slot, sums) puts into v for i ≤ j, and mirrors
// that; contrast, 0 unless entry sets it, is added to the last matrix at (i, j) and subtracted
// at (j, i). All threads of a block call entry, with inside where they have an entry. length is
// that of a slot.
//
// A matrix may be one that entry reads, at i·d + j only.
template <int Outputs, class Entry>
__device__ static void adjoint_sweep(double *const (&to)[Outputs], double *gradient, long length, long d, Entry entry) {
	__shared__ double tile[Outputs][TILE][TILE + 1];
	const long x = threadIdx.x % TILE, rows = THREADS / TILE, n = tiles(d), count = slots(d);
	for (long s = blockIdx.x; s < count; s += gridDim.x) {
		double *const slot = gradient + (problem() * (count + 1) + s) * length;
		double sums[CELL_SUMS] = {0, 0, 0};
		empty_slot(slot, length);
		for (long t = s; t < n; t += SLOTS) {
			const corner c = corner_of(t);
			for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
				const long i = c.top + y, j = c.left + x;
				const bool inside = i <= j && j < d;
				double v[Outputs], contrast = 0;
				entry(i, j, i * d + j, inside, v, contrast, slot, sums);
				if (!inside) continue;
				for (int k = 0; k < Outputs; k++) {
					const double more = k == Outputs - 1 ? contrast : 0;
					if (to[k]) to[k][i * d + j] = v[k] + more;
					tile[k][y][x] = v[k] - more;
				}
			}
			__syncthreads();
			for (int k = 0; k < Outputs; k++) {
				if (!to[k]) continue;
				for (long y = threadIdx.x / TILE; y < TILE; y += rows) {
					const long i = c.left + y, j = c.top + x;
					if (j < i && i < d) to[k][i * d + j] = tile[k][x][y];
				}
			}
			__syncthreads();
		}
		end_slot(slot, length, sums);
	}
}

// gradient (total for each problem), from number at on, += the sums of the derivatives by
// weights over count slots of length numbers. sums (three for each problem) = those of the
// cell. n is length.
extern "C" __global__ void __launch_bounds__(THREADS)
collect_gradient(double *gradient, double *sums, const double *slots, long at, long total, long count,
	long stride, long n) {
	slots += problem() * stride * n;
	for (long p = first(); p < n; p += step()) {
		double v = 0;
		for (long s = 0; s < count; s++) v += slots[s * n + p];
		const long weight = n - CELL_SUMS;
		if (p < weight) gradient[problem() * total + at + p] += v;
		else sums[problem() * CELL_SUMS + p - weight] = v;
	}
}
