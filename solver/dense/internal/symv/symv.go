// Package symv multiplies symmetric matrices by vectors, in parts that several threads may
// do. A matrix too large for a processor's own cache is read as fast as its memory allows, and
// by two processors twice as fast.
package symv

// Fast says whether the processor has the instructions with which Multiply is as fast as memory.
var Fast = haveAVX2

// Multiply adds to y what the rows from ≤ i < to of the upper triangle of A, n×n and row-major,
// contribute to A·x: of an entry (i, j), with j ≥ i, Aij·xj to yi and, off the diagonal, Aij·xi to yj.
func Multiply(n int, a []float64, lda, from, to int, x, y []float64) {
	x, y = x[:n], y[:n]
	const rows = 4
	i := from
	for ; i+rows <= to; i += rows {
		for k := range rows {
			diagonal(a[(i+k)*lda+i+k:(i+k)*lda+i+rows], x[i+k:i+rows], y[i+k:i+rows])
		}
		if i+rows < n {
			var sums [rows]float64
			four(&sums, a[i*lda+i+rows:], lda, x[i+rows:], y[i+rows:], (*[rows]float64)(x[i:]))
			for k, v := range sums {
				y[i+k] += v
			}
		}
	}
	for ; i < to; i++ {
		diagonal(a[i*lda+i:i*lda+n], x[i:], y[i:])
	}
}

// diagonal is Multiply for one row, that begins on the diagonal.
func diagonal(row, x, y []float64) {
	x, y = x[:len(row)], y[:len(row)]
	first := x[0]
	sum := row[0] * first
	for j := 1; j < len(row); j++ {
		sum += row[j] * x[j]
		y[j] += row[j] * first
	}
	y[0] += sum
}

// fourGo sets sums to the products of four rows of a, as long as x, with x, and adds the rows,
// times f, to y.
func fourGo(sums *[4]float64, a []float64, lda int, x, y []float64, f *[4]float64) {
	n := len(x)
	y = y[:n]
	*sums = [4]float64{}
	for k, v := range f {
		var sum float64
		for j, e := range a[k*lda : k*lda+n] {
			sum += e * x[j]
			y[j] += e * v
		}
		sums[k] = sum
	}
}
