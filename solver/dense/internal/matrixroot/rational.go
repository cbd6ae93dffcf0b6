// Package matrixroot computes functions of symmetric tridiagonal matrices without their
// eigenvectors: √(T² + cI) as a sum of resolvents of T.
//
// With Zolotarev's best rational approximation of the square root,
//
//	√(y² + c) ≈ α − Σp βp/(y² + t²p)      for |y| ≤ bound,
//
// in which all coefficients are positive, and 1/(y² + t²) = Im(1/(y − it))/t. The
// resolvent (T − itI)⁻¹ of a tridiagonal matrix has all its entries from two continued
// fractions, along T and back, whose terms stay t or more from zero, so that no pivoting
// is needed; an entry is its neighbour times a number. All of them take n²/2 products for
// each of p = 10 to 30 terms, where eigenvectors take some 4n³.
package matrixroot

import "math"

// Accuracy is the largest relative error of the approximation.
const Accuracy = 1e-14

// MostTerms bounds p; it is enough for every bound that Approximate accepts.
const MostTerms = 40

// LargestCondition is the largest √(1 + bound²/c) that Approximate accepts.
const LargestCondition = 1e4

// An approximation is α, βp and tp above.
type approximation struct {
	alpha       float64
	beta, shift []float64
	// err is the largest relative error.
	err float64

	c [2*MostTerms + 1]float64
}

// approximate makes a the approximation for c > 0 and |y| ≤ bound. It reports false where
// bound is too large.
//
// Its poles and zeros are at sn²/cn² of multiples of a part of the quarter period
// (E. I. Zolotarev 1877; J. van den Eshof et al., Numerical methods for the QCD overlap
// operator I, Comput. Phys. Commun. 146, 2002, equation 36 on); in
// x = (y² + c)/c the interval is 1 ≤ x ≤ b.
func (a *approximation) approximate(c, bound float64) bool {
	root := math.Sqrt(c)
	condition := math.Hypot(bound/root, 1)
	if !(condition <= LargestCondition) {
		return false
	}
	b := condition * condition
	var means [16]struct{ c, b float64 } // of Gauss's arithmetic-geometric mean, over a
	x, y, last := 1.0, 1/condition, 0
	for math.Abs(x-y) > 0x1p-51*x && last < len(means)-1 {
		last++
		half := (x - y) / 2
		x, y = (x+y)/2, math.Sqrt(x*y)
		means[last].c, means[last].b = half/x, y/x
	}
	quarter := math.Pi / (2 * x) // the quarter period
	// The error is 4e^(−pπ²/K) to a few per cent.
	p := int(math.Ceil(math.Log(4/Accuracy) * quarter / (math.Pi * math.Pi)))
	p = min(max(p, 1), MostTerms)
	at := a.c[:2*p]
	for l := 1; l <= p; l++ {
		phi := math.Ldexp(float64(l)*math.Pi/(4*float64(p)), last)
		for k := last; k > 0; k-- {
			// The arcsine of sin·c/a, without cancellation where that is near 1.
			sin, cos := math.Sincos(phi)
			phi = (phi + math.Atan2(means[k].c*sin, math.Sqrt(cos*cos+means[k].b*means[k].b*sin*sin))) / 2
		}
		t := math.Tan(phi)
		at[l] = t * t
	}
	for l := p + 1; l < 2*p; l++ {
		at[l] = b / at[2*p-l]
	}
	// 1/√x is about D·Π(x + c₂ₗ)/Π(x + c₂ₗ₋₁), whose error is the same, with
	// opposite signs, at x = 1 and at the next of its extrema.
	ratio := func(x float64) float64 {
		v := 1 / (x + at[2*p-1])
		for l := 1; l < p; l++ {
			v *= (x + at[2*l]) / (x + at[2*l-1])
		}
		return v
	}
	next := (1 + at[1]) / (1 + at[1]/b)
	first, second := ratio(1), math.Sqrt(next)*ratio(next)
	scale := 2 / (first + second)
	a.err = math.Abs(first-second) / (first + second)
	if !(a.err <= Accuracy) {
		return false
	}
	a.alpha, a.beta, a.shift = 0, a.beta[:0], a.shift[:0]
	for j := range p {
		pole := at[2*j+1]
		v := scale
		for l := range p {
			if l != j {
				v /= at[2*l+1] - pole
			}
			if l > 0 {
				v *= at[2*l] - pole
			}
		}
		a.alpha += v
		a.beta = append(a.beta, v*pole*root*c)
		a.shift = append(a.shift, root*math.Sqrt(1+pole))
	}
	a.alpha *= root
	return true
}
