package genes

import (
	"fmt"
	"math"
	"slices"
)

// Forms of rate laws.
const (
	// Hill: activators add, repressors multiply,
	// (V₀ + Σ Vᵢ xᵢⁿ/(Kᵢⁿ+xᵢⁿ)) · Π Kᵢⁿ/(Kᵢⁿ+xᵢⁿ), the sum over activators, the
	// product over repressors. One regulator, or any number.
	Hill = "hill"
	// Synergy: two activators, a and b being x/K,
	// (V₀ + V₁a + V₂b + β(V₁+V₂)ab) / (1 + a + b + ab).
	Synergy = "synergy"
	// Competitive: an activator a and a repressor r for one site,
	// (V₀ + V₁a) / (1 + a + r).
	Competitive = "competitive"
	// NonCompetitive: the same with a site each, (V₀ + V₁a) / ((1+a)(1+r)).
	NonCompetitive = "non-competitive"
)

// A Law says how the expression of a gene follows from that of its regulators at
// steady state. Every law is rescaled so that its extremes over regulators that are
// 0 or 1 are 0 and 1. The forms and their parameters are those of SynTReN (Van den
// Bulcke et al., BMC Bioinformatics 7:43, 2006), as they show in its output.
type Law struct {
	// Form is one of the constants above.
	Form string
	// Signs are those of the regulators: +1 activates, -1 represses.
	Signs []int8
	// Half is K of every regulator: where it has half of its effect, before the
	// law is rescaled.
	Half []float64
	// Exponent is n of every regulator in Hill; the other forms have none.
	Exponent []float64
	// Strength is V of every activator.
	Strength []float64
	// Basal is V₀, the rate without an activator.
	Basal float64
	// Cooperation is β in Synergy.
	Cooperation float64

	low, high float64
}

// validate reports what is wrong with the law of a number of regulators.
func (l Law) validate(regulators int) error {
	n := len(l.Signs)
	switch {
	case !slices.Contains([]string{Hill, Synergy, Competitive, NonCompetitive}, l.Form):
		return fmt.Errorf("no form of law is named %q", l.Form)
	case n != regulators || len(l.Half) != n || len(l.Strength) != n || l.Form == Hill && len(l.Exponent) != n:
		return fmt.Errorf("the law %s has not one of every parameter for %d regulators", l.Form, regulators)
	case l.Form == Synergy && (n != 2 || l.Signs[0] < 0 || l.Signs[1] < 0):
		return fmt.Errorf("the law %s is of two activators", l.Form)
	case (l.Form == Competitive || l.Form == NonCompetitive) && (n != 2 || l.Signs[0] == l.Signs[1]):
		return fmt.Errorf("the law %s is of an activator and a repressor", l.Form)
	}
	for k, sign := range l.Signs {
		positive := l.Half[k]
		if l.Form == Hill {
			positive = min(positive, l.Exponent[k])
		}
		if sign != 1 && sign != -1 || !(positive > 0) || l.Strength[k] < 0 {
			return fmt.Errorf("the law %s has a sign other than 1 and -1, or a parameter that is not positive", l.Form)
		}
	}
	if r := l.rescaled(); !(r.high > r.low) || math.IsInf(r.high, 1) {
		return fmt.Errorf("the law %s does not depend on its regulators", l.Form)
	}
	return nil
}

// rescaled is l with its extremes over {0, 1} computed.
func (l Law) rescaled() Law {
	l.low, l.high = math.Inf(1), math.Inf(-1)
	corner := make([]float64, len(l.Half))
	note := func() {
		v := l.raw(corner)
		l.low, l.high = min(l.low, v), max(l.high, v)
	}
	if l.Form == Synergy { // which need not be monotone
		for _, corner[0] = range []float64{0, 1} {
			for _, corner[1] = range []float64{0, 1} {
				note()
			}
		}
		return l
	}
	for _, sign := range []int8{1, -1} {
		for k, s := range l.Signs {
			corner[k] = 0
			if s == sign {
				corner[k] = 1
			}
		}
		note()
	}
	return l
}

// rate is the law at x, the values of its regulators, which are not negative.
func (l *Law) rate(x []float64) float64 {
	return (l.raw(x) - l.low) / (l.high - l.low)
}

// raw is the law before it is rescaled.
func (l *Law) raw(x []float64) float64 {
	switch l.Form {
	case Synergy:
		a, b := x[0]/l.Half[0], x[1]/l.Half[1]
		v, w := l.Strength[0], l.Strength[1]
		return (l.Basal + v*a + w*b + l.Cooperation*(v+w)*a*b) / (1 + a + b + a*b)
	case Competitive, NonCompetitive:
		i := 0
		if l.Signs[0] < 0 {
			i = 1
		}
		a, r := x[i]/l.Half[i], x[1-i]/l.Half[1-i]
		top := l.Basal + l.Strength[i]*a
		if l.Form == Competitive {
			return top / (1 + a + r)
		}
		return top / ((1 + a) * (1 + r))
	}
	sum, product := l.Basal, 1.0
	for k, v := range x {
		h := hill(v, l.Half[k], l.Exponent[k])
		if l.Signs[k] > 0 {
			sum += l.Strength[k] * h
		} else {
			product *= 1 - h
		}
	}
	return sum * product
}

// hill is xⁿ/(Kⁿ+xⁿ).
func hill(x, k, n float64) float64 {
	if x <= 0 {
		return 0
	}
	q := k / x
	if n != 1 {
		q = math.Pow(q, n)
	}
	return 1 / (1 + q)
}
