package glad

// The loops of layers, four values at a time, for n a positive multiple of 4
// where it does not say otherwise.
// Sums are made in the same order as in the loops of layer.go, and products
// rounded before they are added: the bits are the same with and without AVX2.

// sum3AVX2 is y = b + w0·x0 + w1·x1 + w2·x2.
//
//go:noescape
func sum3AVX2(y *float64, n int, b float64, w *[3]float64, x0, x1, x2 *float64)

// add2AVX2 is y += w0·x0 + w1·x1.
//
//go:noescape
func add2AVX2(y *float64, n int, w0, w1 float64, x0, x1 *float64)

// add1AVX2 is y += w·x.
//
//go:noescape
func add1AVX2(y *float64, n int, w float64, x *float64)

// lessSquareAVX2 is delta *= s − f·y².
//
//go:noescape
func lessSquareAVX2(delta *float64, n int, s, f float64, y *float64)

// dot3AVX2 sets sums to d·x0, d·x1 and d·x2, for any n.
//
//go:noescape
func dot3AVX2(sums *[3]float64, n int, d, x0, x1, x2 *float64)

// dot3 returns d·x0, d·x1 and d·x2.
func dot3(d, x0, x1, x2 []float64) (sums [3]float64) {
	if !haveAVX2 || len(d) == 0 {
		return dot3Go(d, x0, x1, x2)
	}
	x0, x1, x2 = x0[:len(d)], x1[:len(d)], x2[:len(d)]
	dot3AVX2(&sums, len(d), &d[0], &x0[0], &x1[0], &x2[0])
	return sums
}

// sum3 sets y to b + w0·x0 + w1·x1 + w2·x2.
func sum3(y []float64, b float64, w [3]float64, x0, x1, x2 []float64) {
	x0, x1, x2 = x0[:len(y)], x1[:len(y)], x2[:len(y)]
	n := fourfold(y)
	if n > 0 {
		sum3AVX2(&y[0], n, b, &w, &x0[0], &x1[0], &x2[0])
	}
	sum3Go(y[n:], b, w, x0[n:], x1[n:], x2[n:])
}

// add2 adds w0·x0 + w1·x1 to y.
func add2(y []float64, w0, w1 float64, x0, x1 []float64) {
	x0, x1 = x0[:len(y)], x1[:len(y)]
	n := fourfold(y)
	if n > 0 {
		add2AVX2(&y[0], n, w0, w1, &x0[0], &x1[0])
	}
	add2Go(y[n:], w0, w1, x0[n:], x1[n:])
}

// add1 adds w·x to y.
func add1(y []float64, w float64, x []float64) {
	x = x[:len(y)]
	n := fourfold(y)
	if n > 0 {
		add1AVX2(&y[0], n, w, &x[0])
	}
	add1Go(y[n:], w, x[n:])
}

// lessSquare multiplies delta by s − f·y².
func lessSquare(delta []float64, s, f float64, y []float64) {
	y = y[:len(delta)]
	n := fourfold(delta)
	if n > 0 {
		lessSquareAVX2(&delta[0], n, s, f, &y[0])
	}
	lessSquareGo(delta[n:], s, f, y[n:])
}

// fourfold is how many values of y the functions above may be given.
func fourfold(y []float64) int {
	if !haveAVX2 {
		return 0
	}
	return len(y) &^ 3
}
