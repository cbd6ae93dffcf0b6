package genes

import (
	"math"
	"math/rand/v2"
)

// Noise is log-normal, but fades where expression comes near 1: a standard normal
// draw ε moves x to the x' with h(x') = h(x) + σε, where
//
//	h(x) = log x + fade · x/(1−x).
//
// This is fitted to published output of SynTReN, all of it made with σ = .1: the
// genes there that are held at a constant c have h(x) − h(c) of standard deviation
// .099 to .103 and no skew, whether c is .02 or .99.
const (
	fade = .01
	// most is the highest expression that is written.
	most = 1 - 5e-7
)

// disturb moves x, from 0 to 1, by noise of a standard deviation.
func disturb(rng *rand.Rand, x, deviation float64) float64 {
	return displace(x, deviation*rng.NormFloat64())
}

// displace is the x' with h(x') = h(x) + by.
func displace(x, by float64) float64 {
	if x <= 0 {
		return 0
	}
	x = min(x, most)
	if by == 0 {
		return x
	}
	want := math.Log(x) + fade*x/(1-x) + by
	// In t, the logarithm of the odds, h(x) is t − log(1+eᵗ) + fade·eᵗ, which rises.
	low, high := -750.0, math.Log(most/(1-most))
	t := math.Log(x / (1 - x))
	for range 100 {
		odds := math.Exp(t)
		miss := t - math.Log1p(odds) + fade*odds - want
		if miss < 0 {
			low = t
		} else {
			high = t
		}
		step := miss / (1/(1+odds) + fade*odds)
		if t -= step; t < low || t > high {
			t = (low + high) / 2
		}
		if math.Abs(step) < 1e-12 {
			break
		}
	}
	return min(1/(1+math.Exp(-t)), most)
}
