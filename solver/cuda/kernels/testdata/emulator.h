// What kernels.cu needs of CUDA, for a C++ compiler: see harness.cpp.
#pragma once
#include <cmath>
#define __global__
#define __device__
#define __shared__ static
#define __constant__ static
struct dim3 { unsigned x, y, z; };
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
