package tridiagonal

import "math"

// sweeps is how many QL sweeps an eigenvalue may take; it takes two on average.
const sweeps = 60

// leaf decomposes a block by QL with implicit shifts (Dubrulle, Martin and
// Wilkinson, The implicit QL algorithm, Numer. Math. 12, 1968).
func (s *Solver) leaf(o, m int) bool {
	for i := range m {
		s.q[(o+i)*s.n+o+i] = 1
	}
	d, e := s.values[o:o+m], s.offs[o:o+m-1]
	for low := range m {
		for sweep := 0; ; sweep++ {
			high := low
			for high < m-1 && math.Abs(e[high]) > unit*(math.Abs(d[high])+math.Abs(d[high+1]))+tiny {
				high++
			}
			if high == low {
				break
			}
			if sweep == sweeps {
				return false
			}
			s.sweep(o, m, low, high)
		}
	}
	s.sort(o, m)
	return true
}

// sweep chases a bulge from row high of the block up to row low.
func (s *Solver) sweep(o, m, low, high int) {
	d, e := s.values[o:o+m], s.offs[o:o+m-1]
	g := (d[low+1] - d[low]) / (2 * e[low])
	g = d[high] - d[low] + e[low]/(g+math.Copysign(length(g, 1), g))
	sine, cosine, p := 1.0, 1.0, 0.0
	for i := high - 1; i >= low; i-- {
		f, b := sine*e[i], cosine*e[i]
		r := length(f, g)
		if i < high-1 {
			e[i+1] = r
		}
		if r <= tiny { // the matrix falls apart here
			d[i+1] -= p
			e[i] = b
			return
		}
		sine, cosine = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*sine + 2*cosine*b
		p = sine * r
		d[i+1] = g + p
		g = cosine*r - b
		rotate(s.row(o+i, o, m), s.row(o+i+1, o, m), cosine, -sine)
	}
	d[low] -= p
	e[low] = g
}

// length is √(x² + y²).
func length(x, y float64) float64 { return math.Sqrt(x*x + y*y) }

// rotate sets x to cx + sy and y to cy − sx.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		x[i] = c*a + s*b
		y[i] = c*b - s*a
	}
}
