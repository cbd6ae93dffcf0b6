//go:build cuda && cgo

package library

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// functions are the addresses of those that are called here.
type functions struct {
	blasProperty, blasCreate, blasDestroy, blasSetStream uintptr

	gemm, gemmStridedBatched, syrk, gemv, dot, axpy, nrm2, scal uintptr

	solverProperty, solverCreate, solverDestroy, solverSetStream uintptr
	createParams, destroyParams                                  uintptr

	potrf, potrfSize, potri, potriSize, syevd, syevdSize uintptr
	syevBatched, syevBatchedSize                         uintptr // 0 before CUDA 12.6
}

// bind finds the functions, or says what is missing.
func (f *functions) bind(blas, solver uintptr, g generation) string {
	for _, part := range []struct {
		handle  uintptr
		file    string
		symbols []symbol
	}{
		{blas, g.blas, []symbol{
			{"cublasGetProperty", &f.blasProperty},
			{"cublasCreate_v2", &f.blasCreate},
			{"cublasDestroy_v2", &f.blasDestroy},
			{"cublasSetStream_v2", &f.blasSetStream},
			{"cublasDgemm_v2", &f.gemm},
			{"cublasDgemmStridedBatched", &f.gemmStridedBatched},
			{"cublasDsyrk_v2", &f.syrk},
			{"cublasDgemv_v2", &f.gemv},
			{"cublasDdot_v2", &f.dot},
			{"cublasDaxpy_v2", &f.axpy},
			{"cublasDnrm2_v2", &f.nrm2},
			{"cublasDscal_v2", &f.scal},
		}},
		{solver, g.solver, []symbol{
			{"cusolverGetProperty", &f.solverProperty},
			{"cusolverDnCreate", &f.solverCreate},
			{"cusolverDnDestroy", &f.solverDestroy},
			{"cusolverDnSetStream", &f.solverSetStream},
			{"cusolverDnCreateParams", &f.createParams},
			{"cusolverDnDestroyParams", &f.destroyParams},
			{"cusolverDnDpotrf", &f.potrf},
			{"cusolverDnDpotrf_bufferSize", &f.potrfSize},
			{"cusolverDnDpotri", &f.potri},
			{"cusolverDnDpotri_bufferSize", &f.potriSize},
			{"cusolverDnXsyevd", &f.syevd},
			{"cusolverDnXsyevd_bufferSize", &f.syevdSize},
		}},
	} {
		for _, s := range part.symbols {
			address, err := purego.Dlsym(part.handle, s.name)
			if err != nil {
				return fmt.Sprintf("%s has no %s", part.file, s.name)
			}
			*s.address = address
		}
	}
	for _, s := range []symbol{{"cusolverDnXsyevBatched", &f.syevBatched}, {"cusolverDnXsyevBatched_bufferSize", &f.syevBatchedSize}} {
		*s.address, _ = purego.Dlsym(solver, s.name)
	}
	return ""
}

type symbol struct {
	name    string
	address *uintptr
}
