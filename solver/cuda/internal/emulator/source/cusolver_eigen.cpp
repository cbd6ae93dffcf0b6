// libcusolver: eigenvalues and eigenvectors of symmetric matrices.
#include <cmath>
#include <cstring>
#include <limits>

#include "cusolver.h"

using namespace emulator;

namespace cusolver {

int eigen(const Blas &b, bool vectors, int uplo, int n, double *a, int lda, double *values) {
	if (n == 0) return 0;
	bool finite = true;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (uplo == 0 ? i >= j : i <= j) finite &= std::isfinite(a[i + (long)j * lda]);
	const double nan = std::numeric_limits<double>::quiet_NaN();
	int info = 0;
	if (finite) {
		const char job = vectors ? 'V' : 'N', u = triangle(uplo);
		const int ask = -1;
		double size;
		int isize;
		b.dsyevd_(&job, &u, &n, a, &lda, values, &size, &ask, &isize, &ask, &info, 1, 1);
		const int doubles = int(size), ints = isize;
		std::vector<double> work(doubles);
		std::vector<int> iwork(ints);
		b.dsyevd_(&job, &u, &n, a, &lda, values, work.data(), &doubles, iwork.data(), &ints, &info, 1, 1);
	}
	// What the real one does with NaN is not written down: the caller who does not look is
	// served worst by NaN and no error.
	if (!finite)
		for (int i = 0; i < n; i++) values[i] = nan;
	if (!finite || !vectors)
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++) a[i + (long)j * lda] = nan;
	return info;
}

}  // namespace cusolver

static const int real64 = 1;  // CUDA_R_64F

static size_t device_bytes(int64_t n, int64_t count) { return 8 * (2 * n * n + 32 * n + 1) * (count > 1 ? count : 1); }
static size_t host_bytes(int64_t n) { return 16 * n + 64; }

static int check(const char *call, void *parameters, int job, int uplo, int64_t n, int type_a, int64_t lda, int type_w, int compute, int64_t count) {
	if (!cusolver::is_parameters(parameters)) return cusolver::invalid(call, "parameters: make them by cusolverDnCreateParams");
	if (!cusolver::is_bit(job) || !cusolver::is_bit(uplo)) return cusolver::invalid(call, "mode or triangle");
	if (n < 0 || n > 1 << 20 || count < 0) return cusolver::invalid(call, "size");
	if (!cusolver::leads(lda, n)) return cusolver::invalid(call, "leading dimension");
	if (type_a != real64 || type_w != real64 || compute != real64) return cusolver::invalid(call, "type: only double precision is emulated");
	return cusolver::SUCCESS;
}

static int sizes(int64_t n, int64_t count, size_t *device, size_t *host) {
	if (!device || !host) return cusolver::INVALID_VALUE;
	*device = device_bytes(n, count);
	*host = host_bytes(n);
	return cusolver::SUCCESS;
}

API cusolverDnXsyevd_bufferSize(void *handle, void *parameters, int job, int uplo, int64_t n, int type_a, const void *, int64_t lda, int type_w, const void *, int compute, size_t *device, size_t *host) {
	ENTER_CUSOLVER
	(void)stream;
	if (int code = check(__func__, parameters, job, uplo, n, type_a, lda, type_w, compute, 1)) return code;
	return sizes(n, 1, device, host);
}

API cusolverDnXsyevBatched_bufferSize(void *handle, void *parameters, int job, int uplo, int64_t n, int type_a, const void *, int64_t lda, int type_w, const void *, int compute, size_t *device, size_t *host, int64_t count) {
	ENTER_CUSOLVER
	(void)stream;
	if (int code = check(__func__, parameters, job, uplo, n, type_a, lda, type_w, compute, count)) return code;
	return sizes(n, count, device, host);
}

// decompose queues the decompositions of count matrices that lie one behind the other.
static int decompose(Stream *stream, const char *call, int job, int uplo, int n, double *a, int lda, double *values, void *work, size_t bytes, void *host, size_t on_host, int *info, int count) {
	if (bytes < device_bytes(n, count) || on_host < host_bytes(n)) return cusolver::invalid(call, "workspace: smaller than bufferSize said");
	if (!host || anywhere_on_device((uintptr_t)host, 1)) return cusolver::invalid(call, "workspace: the host's is not on the host");
	memset(host, 0xff, on_host);
	return cusolver::run(stream, call, {out("A", a, n, int64_t(n) * count, lda), out("W", values, n, count, n), out_bytes("the workspace", work, bytes), out_ints("info", info, count)}, [=](const Blas &b) {
		if (bytes) memset(work, 0xff, bytes);
		for (int i = 0; i < count; i++) info[i] = cusolver::eigen(b, job == 1, uplo, n, a + (long)i * lda * n, lda, values + (long)i * n);
	});
}

API cusolverDnXsyevd(void *handle, void *parameters, int job, int uplo, int64_t n, int type_a, void *a, int64_t lda, int type_w, void *values, int compute, void *work, size_t bytes, void *host, size_t on_host, int *info) {
	ENTER_CUSOLVER
	if (int code = check(__func__, parameters, job, uplo, n, type_a, lda, type_w, compute, 1)) return code;
	return decompose(stream, __func__, job, uplo, int(n), (double *)a, int(lda), (double *)values, work, bytes, host, on_host, info, 1);
}

API cusolverDnXsyevBatched(void *handle, void *parameters, int job, int uplo, int64_t n, int type_a, void *a, int64_t lda, int type_w, void *values, int compute, void *work, size_t bytes, void *host, size_t on_host, int *info, int64_t count) {
	ENTER_CUSOLVER
	if (int code = check(__func__, parameters, job, uplo, n, type_a, lda, type_w, compute, count)) return code;
	return decompose(stream, __func__, job, uplo, int(n), (double *)a, int(lda), (double *)values, work, bytes, host, on_host, info, int(count));
}
