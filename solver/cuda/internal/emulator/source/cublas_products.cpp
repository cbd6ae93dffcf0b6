// libcublas: products of matrices.
#include <algorithm>

#include "cublas.h"

using namespace emulator;

// Of cublasOperation_t (0 N, 1 T, 2 C) and cublasFillMode_t (0 lower, 1 upper).
static char operation(int o) { return o == 0 ? 'N' : 'T'; }
static bool is_operation(int o) { return o >= 0 && o <= 2; }
static char triangle(int u) { return u == 0 ? 'L' : 'U'; }
static bool is_bit(int u) { return u == 0 || u == 1; }
static bool leads(int ld, int rows) { return ld >= std::max(1, rows); }

static int invalid(const char *call, const char *what) {
	complain(std::string(call) + ": invalid " + what);
	return cublas::INVALID_VALUE;
}

API cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc) {
	ENTER_CUBLAS
	if (!is_operation(ta) || !is_operation(tb)) return invalid(__func__, "operation");
	if (m < 0 || n < 0 || k < 0) return invalid(__func__, "size");
	const int rows_a = ta ? k : m, columns_a = ta ? m : k, rows_b = tb ? n : k, columns_b = tb ? k : n;
	if (!leads(lda, rows_a) || !leads(ldb, rows_b) || !leads(ldc, m)) return invalid(__func__, "leading dimension");
	cublas::Scalar x, y;
	if (!cublas::scalar(*h, alpha, &x) || !cublas::scalar(*h, beta, &y)) return invalid(__func__, "scalar");
	if (!m || !n) return cublas::SUCCESS;
	return cublas::run(stream, __func__, {in("A", a, rows_a, columns_a, lda), in("B", b, rows_b, columns_b, ldb), out("C", c, m, n, ldc)}, {x, y}, [=](const Blas &f) {
		const double p = x.get(), q = y.get();
		const char oa = operation(ta), ob = operation(tb);
		f.dgemm_(&oa, &ob, &m, &n, &k, &p, a, &lda, b, &ldb, &q, c, &ldc, 1, 1);
	});
}

API cublasDgemmStridedBatched(void *handle, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda, long long stride_a, const double *b, int ldb, long long stride_b, const double *beta, double *c, int ldc, long long stride_c, int count) {
	ENTER_CUBLAS
	if (!is_operation(ta) || !is_operation(tb)) return invalid(__func__, "operation");
	if (m < 0 || n < 0 || k < 0 || count < 0) return invalid(__func__, "size");
	const int rows_a = ta ? k : m, columns_a = ta ? m : k, rows_b = tb ? n : k, columns_b = tb ? k : n;
	if (!leads(lda, rows_a) || !leads(ldb, rows_b) || !leads(ldc, m)) return invalid(__func__, "leading dimension");
	// Products of a batch that overlap are written in no order.
	if (stride_a < 0 || stride_b < 0 || (count > 1 && n > 0 && stride_c < (long long)ldc * (n - 1) + m)) return invalid(__func__, "stride");
	cublas::Scalar x, y;
	if (!cublas::scalar(*h, alpha, &x) || !cublas::scalar(*h, beta, &y)) return invalid(__func__, "scalar");
	if (!m || !n || !count) return cublas::SUCCESS;
	// From the first matrix of a batch to the end of its last.
	auto whole = [count](Span s, long long stride) {
		s.rows = s.bytes() / 8 ? int64_t(s.bytes() / 8) + stride * (count - 1) : 0;
		s.columns = 1, s.ld = s.rows;
		return s;
	};
	return cublas::run(stream, __func__, {whole(in("A", a, rows_a, columns_a, lda), stride_a), whole(in("B", b, rows_b, columns_b, ldb), stride_b), whole(out("C", c, m, n, ldc), stride_c)}, {x, y}, [=](const Blas &f) {
		const double p = x.get(), q = y.get();
		const char oa = operation(ta), ob = operation(tb);
		for (int i = 0; i < count; i++) f.dgemm_(&oa, &ob, &m, &n, &k, &p, a + i * stride_a, &lda, b + i * stride_b, &ldb, &q, c + i * stride_c, &ldc, 1, 1);
	});
}

API cublasDsyrk_v2(void *handle, int uplo, int trans, int n, int k, const double *alpha, const double *a, int lda, const double *beta, double *c, int ldc) {
	ENTER_CUBLAS
	if (!is_bit(uplo) || !is_operation(trans)) return invalid(__func__, "operation");
	if (n < 0 || k < 0) return invalid(__func__, "size");
	const int rows = trans ? k : n, columns = trans ? n : k;
	if (!leads(lda, rows) || !leads(ldc, n)) return invalid(__func__, "leading dimension");
	cublas::Scalar x, y;
	if (!cublas::scalar(*h, alpha, &x) || !cublas::scalar(*h, beta, &y)) return invalid(__func__, "scalar");
	if (!n) return cublas::SUCCESS;
	return cublas::run(stream, __func__, {in("A", a, rows, columns, lda), out("C", c, n, n, ldc)}, {x, y}, [=](const Blas &f) {
		const double p = x.get(), q = y.get();
		const char u = triangle(uplo), o = operation(trans);
		f.dsyrk_(&u, &o, &n, &k, &p, a, &lda, &q, c, &ldc, 1, 1);
	});
}

API cublasDgemv_v2(void *handle, int trans, int m, int n, const double *alpha, const double *a, int lda, const double *x, int incx, const double *beta, double *y, int incy) {
	ENTER_CUBLAS
	if (!is_operation(trans)) return invalid(__func__, "operation");
	if (m < 0 || n < 0) return invalid(__func__, "size");
	if (!leads(lda, m)) return invalid(__func__, "leading dimension");
	if (!incx || !incy) return invalid(__func__, "increment");
	cublas::Scalar p, q;
	if (!cublas::scalar(*h, alpha, &p) || !cublas::scalar(*h, beta, &q)) return invalid(__func__, "scalar");
	if (!m || !n) return cublas::SUCCESS;
	return cublas::run(stream, __func__, {in("A", a, m, n, lda), vector("x", x, trans ? m : n, incx), vector("y", y, trans ? n : m, incy, true)}, {p, q}, [=](const Blas &f) {
		const double r = p.get(), s = q.get();
		const char o = operation(trans);
		// With beta 0 y is not read: some versions of OpenBLAS would keep its NaN.
		if (s == 0)
			for (int i = 0, count = trans ? n : m; i < count; i++) y[(long)i * std::abs(incy)] = 0;
		f.dgemv_(&o, &m, &n, &r, a, &lda, x, &incx, &s, y, &incy, 1);
	});
}
