package modeltest

import "math"

// DividedDifference is (φ(x) − φ(y))/(x − y) for φ(y) = ½(−y + √(y² + 4/λ)), from φ and its
// derivatives themselves.
func DividedDifference(x, y, lambda float64) float64 {
	phi := func(y float64) float64 {
		s := math.Sqrt(y*y + 4/lambda)
		if y > 0 {
			return 2 / lambda / (y + s)
		}
		return (s - y) / 2
	}
	if math.Abs(x-y) >= 1e-3 {
		return (phi(x) - phi(y)) / (x - y)
	}
	// There the quotient cancels. With φ' and φ''' in the middle, the rest is of order (x − y)⁴.
	m := (x + y) / 2
	square := m*m + 4/lambda
	slope, third := (m/math.Sqrt(square)-1)/2, -6/lambda*m/math.Pow(square, 2.5)
	return slope + third*(x-y)*(x-y)/24
}
