package covariance

import "math"

// ledoitWolf is the weight a = min(b̄², δ²)/δ² of Ledoit and Wolf (2004), with
//
//	δ² = ‖S − μI‖²,  b̄² = 1/M² Σk ‖xk·xkᵀ − S‖² = (1/M Σk ‖xk‖⁴ − ‖S‖²)/M
//
// where xk are the centred samples, standardised if so asked, S their
// covariance with divisor M, μ the mean of its diagonal and ‖·‖ the Frobenius
// norm. The right-hand form of b̄² needs one number of every sample and no
// matrix but S.
//
// It reads the samples a second time: the means, and for correlations the
// scales, that ‖xk‖⁴ needs are known at the end of the first.
//
// Degrees of freedom that were spent before are not counted in the variance b̄² of S.
func (m *moments) ledoitWolf(samples []block, standardised bool, spent int) float64 {
	var (
		d      = m.d
		total  = float64(m.samples)
		weight []float64
	)
	if standardised {
		weight = m.standardise()
		for j := range weight {
			weight[j] *= math.Sqrt(total)
		}
	} else {
		weight = m.commonUnit()
	}

	var mu float64
	for j, w := range weight {
		mu += m.sums[j*d+j] / total * w * w / float64(d)
	}
	var norm, delta float64 // ‖S‖², ‖S − μI‖²
	for i := range d {
		var row float64
		for j := i + 1; j < d; j++ {
			s := m.sums[i*d+j] / total * weight[i] * weight[j]
			row += s * s
		}
		s := m.sums[i*d+i] / total * weight[i] * weight[i]
		norm += 2*row + s*s
		delta += 2*row + (s-mu)*(s-mu)
	}

	var fourth float64 // Σk ‖xk‖⁴
	for _, b := range samples {
		for r := range b.rows {
			var square float64
			for j, x := range b.data[r*d : (r+1)*d] {
				v := ((x-m.shift[j])*m.factor[j] - m.mean[j]) * weight[j]
				square += v * v
			}
			fourth += square * square
		}
	}
	beta := math.Max(0, (fourth/total-norm)/(total-float64(spent)))
	if delta == 0 {
		return 0 // S is its own target
	}
	return math.Min(beta, delta) / delta
}

// commonUnit is what takes every y to the unit of the largest: the weight does
// not depend on the unit, but ‖xk‖⁴ in a bad one may overflow.
func (m *moments) commonUnit() []float64 {
	largest := m.exponent[0]
	for _, e := range m.exponent {
		largest = max(largest, e)
	}
	weight := make([]float64, m.d)
	for j, e := range m.exponent {
		weight[j] = math.Ldexp(1, e-largest)
	}
	return weight
}
