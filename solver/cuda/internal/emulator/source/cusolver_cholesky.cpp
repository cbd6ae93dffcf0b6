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
