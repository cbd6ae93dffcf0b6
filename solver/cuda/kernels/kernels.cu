// The kernels of gladflow, in plain CUDA C, for NVRTC and, with EMULATOR defined, for
// a C++ compiler. All matrices are symmetric, so that rows are columns; all arguments
// have 8 bytes, all numbers are doubles. kernels.go lists what is here.
#include "matrix.cuh"
#include "spectral.cuh"
#include "paper.cuh"
#include "posterior.cuh"
#include "adjoint_spectral.cuh"
#include "adjoint_paper.cuh"
#include "adjoint_posterior.cuh"
