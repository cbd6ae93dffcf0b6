//go:build !amd64

package glad

// sum3 sets y to b + w0·x0 + w1·x1 + w2·x2.
func sum3(y []float64, b float64, w [3]float64, x0, x1, x2 []float64) {
	sum3Go(y, b, w, x0, x1, x2)
}

// add2 adds w0·x0 + w1·x1 to y.
func add2(y []float64, w0, w1 float64, x0, x1 []float64) { add2Go(y, w0, w1, x0, x1) }

// add1 adds w·x to y.
func add1(y []float64, w float64, x []float64) { add1Go(y, w, x) }

// lessSquare multiplies delta by s − f·y².
func lessSquare(delta []float64, s, f float64, y []float64) { lessSquareGo(delta, s, f, y) }

// dot3 returns d·x0, d·x1 and d·x2.
func dot3(d, x0, x1, x2 []float64) [3]float64 { return dot3Go(d, x0, x1, x2) }
