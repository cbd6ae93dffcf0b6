// libcusolver: Cholesky factors, inverses and solutions.
#include <cstring>

#include "cusolver.h"

using namespace emulator;

// What bufferSize asks for, in doubles: of LAPACK's order, and never nothing.
static int workspace(int n) { return 32 * (n > 0 ? n : 1); }

static int check(const char *call, int uplo, int n, int lda) {
	if (!cusolver::is_bit(uplo)) return cusolver::invalid(call, "triangle");
	if (n < 0) return cusolver::invalid(call, "size");
	if (!cusolver::leads(lda, n)) return cusolver::invalid(call, "leading dimension");
	return cusolver::SUCCESS;
}

API cusolverDnDpotrf_bufferSize(void *handle, int uplo, int n, double *, int lda, int *doubles) {
	ENTER_CUSOLVER
	(void)stream;
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (!doubles) return cusolver::INVALID_VALUE;
	*doubles = workspace(n);
	return cusolver::SUCCESS;
}

API cusolverDnDpotrf(void *handle, int uplo, int n, double *a, int lda, double *work, int doubles, int *info) {
	ENTER_CUSOLVER
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (doubles < workspace(n)) return cusolver::invalid(__func__, "workspace: smaller than bufferSize said");
	return cusolver::run(stream, __func__, {out("A", a, n, n, lda), out("the workspace", work, doubles, 1, doubles), out_ints("info", info, 1)}, [=](const Blas &b) {
		const char u = cusolver::triangle(uplo);
		memset(work, 0xff, sizeof(double) * doubles);
		b.dpotrf_(&u, &n, a, &lda, info, 1);
	});
}

API cusolverDnDpotri_bufferSize(void *handle, int uplo, int n, double *, int lda, int *doubles) {
	ENTER_CUSOLVER
	(void)stream;
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (!doubles) return cusolver::INVALID_VALUE;
	*doubles = 2 * workspace(n);
	return cusolver::SUCCESS;
}

API cusolverDnDpotri(void *handle, int uplo, int n, double *a, int lda, double *work, int doubles, int *info) {
	ENTER_CUSOLVER
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (doubles < 2 * workspace(n)) return cusolver::invalid(__func__, "workspace: smaller than bufferSize said");
	return cusolver::run(stream, __func__, {out("A", a, n, n, lda), out("the workspace", work, doubles, 1, doubles), out_ints("info", info, 1)}, [=](const Blas &b) {
		const char u = cusolver::triangle(uplo);
		memset(work, 0xff, sizeof(double) * doubles);
		b.dpotri_(&u, &n, a, &lda, info, 1);
	});
}

API cusolverDnDpotrs(void *handle, int uplo, int n, int columns, const double *a, int lda, double *x, int ldx, int *info) {
	ENTER_CUSOLVER
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (columns < 0) return cusolver::invalid(__func__, "size");
	if (!cusolver::leads(ldx, n)) return cusolver::invalid(__func__, "leading dimension");
	return cusolver::run(stream, __func__, {in("A", a, n, n, lda), out("B", x, n, columns, ldx), out_ints("info", info, 1)}, [=](const Blas &b) {
		const char u = cusolver::triangle(uplo);
		b.dpotrs_(&u, &n, &columns, a, &lda, x, &ldx, info, 1);
	});
}

// The addresses of a batch's matrices lie on the device, and are known only when its turn comes.
API cusolverDnDpotrfBatched(void *handle, int uplo, int n, double **matrices, int lda, int *info, int count) {
	ENTER_CUSOLVER
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (count < 0) return cusolver::invalid(__func__, "size");
	Context *context = h->context;
	const char *name = __func__;
	return cusolver::run(stream, __func__, {in("the addresses", matrices, count, 1, count), out_ints("info", info, count)}, [=](const Blas &b) {
		const char u = cusolver::triangle(uplo);
		for (int i = 0; i < count; i++) {
			const Span one = out("a matrix", matrices[i], n, n, lda);
			if (one.bytes() && !on_device(context, (uintptr_t)matrices[i], one.bytes())) {
				fault(context, ILLEGAL_ADDRESS, format("%s: matrix %d does not lie in one allocation of this context", name, i));
				return;
			}
			b.dpotrf_(&u, &n, matrices[i], &lda, &info[i], 1);
		}
	});
}

API cusolverDnDpotrsBatched(void *handle, int uplo, int n, int columns, double **matrices, int lda, double **right, int ldx, int *info, int count) {
	ENTER_CUSOLVER
	if (int code = check(__func__, uplo, n, lda)) return code;
	if (count < 0 || columns != 1) return cusolver::invalid(__func__, "size: one right-hand side, and a batch of at least 0");
	if (!cusolver::leads(ldx, n)) return cusolver::invalid(__func__, "leading dimension");
	Context *context = h->context;
	const char *name = __func__;
	return cusolver::run(stream, __func__, {in("the addresses of A", matrices, count, 1, count), in("the addresses of B", right, count, 1, count), out_ints("info", info, 1)}, [=](const Blas &b) {
		const char u = cusolver::triangle(uplo);
		*info = 0;
		for (int i = 0; i < count; i++) {
			const Span a = in("A", matrices[i], n, n, lda), x = out("B", right[i], n, 1, ldx);
			if (n && (!on_device(context, (uintptr_t)a.address, a.bytes()) || !on_device(context, (uintptr_t)x.address, x.bytes()))) {
				fault(context, ILLEGAL_ADDRESS, format("%s: system %d does not lie in allocations of this context", name, i));
				return;
			}
			int one = 0;
			b.dpotrs_(&u, &n, &columns, matrices[i], &lda, right[i], &ldx, &one, 1);
			if (one) *info = one;
		}
	});
}
