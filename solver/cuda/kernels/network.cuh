// The networks that are evaluated at every entry: those of shipped models unrolled,
// with their weights in constant memory, and any other from its description in
// global memory. networks.go writes both.
#pragma once
#include "block.cuh"

// weights are those of the network of the running cell: layer after layer, each with
// its weights by rows and then its biases; after them the scale of the last layer.
constexpr int WEIGHTS = 1024;
__constant__ double weights[WEIGHTS];

// A layer with tanh, of which the weights begin at At.
template <int At, int In, int Out>
__device__ static inline void hidden(const double (&x)[In], double (&y)[Out]) {
#pragma unroll
	for (int u = 0; u < Out; u++) {
		double v = weights[At + In * Out + u];
#pragma unroll
		for (int j = 0; j < In; j++) v += weights[At + In * u + j] * x[j];
		y[u] = tanh(v);
	}
}

// output is the first unit of a last layer of Out units, before its activation.
template <int At, int Out, int In>
__device__ static inline double output(const double (&x)[In]) {
	double v = weights[At + In * Out];
#pragma unroll
	for (int j = 0; j < In; j++) v += weights[At + j] * x[j];
	return v;
}

// sigmoid is 1/(1 + e⁻ˣ), to full relative precision also where it is tiny.
__device__ static inline double sigmoid(double x) {
	const double e = exp(-fabs(x));
	return (x < 0 ? e : 1) / (1 + e);
}

// Features and activations by their codes in a description.
enum feature {
	THETA, S, Z, ABS_THETA, ABS_S, ABS_Z, NEG_THETA_S, DIAGONAL,
	ABS_U, LOG_V, SCALED_U, PRIOR_Z, U_Z, NODE_CONTEXT, NODE_SUPPORT, MEAN_DIAGONAL, Z_SCORE,
	LAMBDA, CONTEXT,
	NODE_CONTRAST, SUPPORT_CONTRAST,
	SAMPLE_RATIO, STRENGTH, KURTOSIS, ROW_SPREAD, LARGEST_CONTEXT, // of the table
};
enum activation { IDENTITY, TANH, SIGMOID, EXP };

// What fixed has of each problem: Fixed in networks.go writes it.
enum fixed_number { FIXED_CONTEXT, FIXED_ROOT_SAMPLES, FIXED_TABLE, FIXED = FIXED_TABLE + 5 };

// table_feature is the feature of the table of that code.
__device__ static inline double table_feature(int feature, const double *fixed) {
	if (SAMPLE_RATIO <= feature && feature <= LARGEST_CONTEXT) return fixed[FIXED_TABLE + feature - SAMPLE_RATIO];
	return 0.0 / 0.0; // no such feature
}

// A description is, in doubles: the number of features, of layers, and the width, which
// is that of the widest layer or of the inputs; the codes of the features; then
// for each layer its units, the units below, its activation, its scale, and its
// weights by rows and biases.
//
// scratch is of each thread 2·width numbers, which lie apart by the number of threads.
struct generic {
	const double *network;
	double *scratch;
	long apart;

	__device__ generic(const double *network, double *scratch) : network(network) {
		const long block = blockIdx.y * (long)gridDim.x + blockIdx.x;
		this->scratch = scratch + block * blockDim.x + threadIdx.x;
		apart = (long)gridDim.x * gridDim.y * blockDim.x;
	}

	// run evaluates the network at value(code) of each feature and returns the
	// outputs, which lie apart.
	template <class Value> __device__ const double *run(Value value) const {
		const long features = (long)network[0], layers = (long)network[1], width = (long)network[2];
		double *x = scratch, *y = scratch + width * apart;
		for (long f = 0; f < features; f++) x[f * apart] = value((int)network[3 + f]);
		const double *at = network + 3 + features;
		for (long l = 0; l < layers; l++) {
			const long units = (long)at[0], below = (long)at[1];
			const int activation = (int)at[2];
			const double scale = at[3], *w = at + 4, *bias = w + units * below;
			for (long u = 0; u < units; u++) {
				double v = bias[u];
				for (long j = 0; j < below; j++) v += w[u * below + j] * x[j * apart];
				switch (activation) {
				case TANH: v = tanh(v); break;
				case SIGMOID: v = sigmoid(v); break;
				case EXP: v = exp(v); break;
				}
				y[u * apart] = scale * v;
			}
			at = bias + units;
			double *const t = x;
			x = y, y = t;
		}
		return x;
	}
};
