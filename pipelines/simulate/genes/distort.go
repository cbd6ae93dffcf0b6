package genes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// confound makes t a compendium: every gene standardised, one to four factors that
// reach all genes added, and noise.
func confound(rng *rand.Rand, t table) {
	standardize(t)
	factors := 1 + rng.IntN(4)
	scale := uniform(rng, .2, .9) / math.Sqrt(float64(factors))
	scores := newTable(factors, len(t[0]))
	addNoise(rng, scores, 1)
	for _, column := range t {
		for _, score := range scores {
			w := scale * rng.NormFloat64()
			for r, v := range score {
				column[r] += w * v
			}
		}
	}
	addNoise(rng, t, uniform(rng, .2, 1))
}

// Marginal distributions that Distort makes.
const (
	// Plain leaves them as they are.
	Plain = "plain"
	// Exponential takes exponentials of standardised values.
	Exponential = "exponential"
	// Outliers puts one standardised value in a hundred far out.
	Outliers = "outliers"
	// HeavyTailed gives samples unequal scales: Student's t with four degrees of
	// freedom.
	HeavyTailed = "heavy-tailed"
	// Noisy adds normal noise to standardised values.
	Noisy = "noisy"
)

// Marginals are the names that Distort takes.
func Marginals() []string { return []string{Plain, Exponential, Outliers, HeavyTailed, Noisy} }

// Distort changes the marginal distributions of s.
func (s *Set) Distort(rng *rand.Rand, how string) error {
	if !slices.Contains(Marginals(), how) {
		return fmt.Errorf("the marginal distribution %q is unknown; choose from %s", how, strings.Join(Marginals(), ", "))
	}
	t := s.columns()
	distort(rng, t, how)
	s.Values = t.rows()
	return nil
}

// drawMarginal draws one, in three sets of five Plain.
func drawMarginal(rng *rand.Rand) string {
	switch u := rng.Float64(); {
	case u < .6:
		return Plain
	case u < .72:
		return Exponential
	case u < .82:
		return Outliers
	case u < .9:
		return HeavyTailed
	}
	return Noisy
}

func distort(rng *rand.Rand, t table, how string) {
	if how == Plain {
		return
	}
	standardize(t)
	switch how {
	case Exponential:
		s := uniform(rng, .3, 1.2)
		for _, column := range t {
			for r, v := range column {
				column[r] = math.Exp(s * v)
			}
		}
	case Outliers:
		for _, column := range t {
			for r := range column {
				if rng.Float64() < .01 {
					column[r] += 8 * rng.NormFloat64()
				}
			}
		}
	case HeavyTailed:
		for r := range t[0] {
			square := 0.0
			for range 4 {
				v := rng.NormFloat64()
				square += v * v
			}
			for _, column := range t {
				column[r] /= math.Sqrt(square / 4)
			}
		}
	case Noisy:
		addNoise(rng, t, uniform(rng, .2, 1))
	}
}

// permute shuffles the samples of every column on its own.
func permute(rng *rand.Rand, t table) {
	for _, column := range t {
		rng.Shuffle(len(column), func(a, b int) { column[a], column[b] = column[b], column[a] })
	}
}

// standardize gives every column mean 0 and standard deviation 1; a constant one
// becomes zero.
func standardize(t table) {
	for _, column := range t {
		mean, sd := stat.PopMeanStdDev(column, nil)
		if sd == 0 {
			sd = 1
		}
		for r, v := range column {
			column[r] = (v - mean) / sd
		}
	}
}

// vary adds a trace of noise where a column is constant, which no correlation
// could take.
func vary(rng *rand.Rand, t table) {
	for _, column := range t {
		constant := true
		for _, v := range column {
			constant = constant && v == column[0]
		}
		if constant {
			for r := range column {
				column[r] += 1e-6 * rng.NormFloat64()
			}
		}
	}
}
