// libcublas: vectors.
#include "cublas.h"

using namespace emulator;

// reduce queues work that yields a number, for the host, which then waits, or for the device.
static int reduce(Handle *h, Stream *stream, const char *call, std::vector<Span> spans, double *result, std::function<double(const Blas &)> work) {
	if (!result) return cublas::INVALID_VALUE;
	const bool device = h->pointer_mode == 1;
	if (device)
		spans.push_back(vector("the result", result, 1, 1, true));
	else if (anywhere_on_device((uintptr_t)result, 8))
		return complain(std::string(call) + ": the result is on the device, and the pointer mode is host"), cublas::INVALID_VALUE;
	int code = cublas::run(stream, call, std::move(spans), {}, [=](const Blas &b) { *result = work(b); });
	if (!code && !device && settle(stream)) return cublas::EXECUTION_FAILED;
	return code;
}

API cublasDdot_v2(void *handle, int n, const double *x, int incx, const double *y, int incy, double *result) {
	ENTER_CUBLAS
	return reduce(h, stream, __func__, {vector("x", x, n, incx), vector("y", y, n, incy)}, result, [=](const Blas &b) { return n > 0 ? b.ddot_(&n, x, &incx, y, &incy) : 0; });
}

API cublasDnrm2_v2(void *handle, int n, const double *x, int incx, double *result) {
	ENTER_CUBLAS
	const int m = incx > 0 ? n : 0;
	return reduce(h, stream, __func__, {vector("x", x, m, incx)}, result, [=](const Blas &b) { return m > 0 ? b.dnrm2_(&m, x, &incx) : 0; });
}

API cublasDaxpy_v2(void *handle, int n, const double *alpha, const double *x, int incx, double *y, int incy) {
	ENTER_CUBLAS
	cublas::Scalar a;
	if (!cublas::scalar(*h, alpha, &a)) return cublas::INVALID_VALUE;
	if (n <= 0) return cublas::SUCCESS;
	return cublas::run(stream, __func__, {vector("x", x, n, incx), vector("y", y, n, incy, true)}, {a}, [=](const Blas &b) {
		const double p = a.get();
		b.daxpy_(&n, &p, x, &incx, y, &incy);
	});
}

API cublasDscal_v2(void *handle, int n, const double *alpha, double *x, int incx) {
	ENTER_CUBLAS
	cublas::Scalar a;
	if (!cublas::scalar(*h, alpha, &a)) return cublas::INVALID_VALUE;
	if (n <= 0 || incx <= 0) return cublas::SUCCESS;
	return cublas::run(stream, __func__, {vector("x", x, n, incx, true)}, {a}, [=](const Blas &b) {
		const double p = a.get();
		b.dscal_(&n, &p, x, &incx);
	});
}
