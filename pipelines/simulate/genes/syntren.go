package genes

import (
	"math"
	"math/rand/v2"
)

// kinetics are the settings of the family syntren.
type kinetics struct {
	// complexes is the probability that two regulators of a gene interact.
	complexes float64
	// correlated is the probability that an input follows another.
	correlated float64
	// steep draws exponents from 2.5 to 5 and halves from .4 to .6.
	steep bool
	// biological is the noise of every gene, measurement that of the table: the
	// standard deviation of the logarithm.
	biological, measurement float64
	// sweeps is the number of passes towards the steady state of a cyclic network.
	sweeps int
}

// drawKinetics draws the settings as the training mixture has them.
func drawKinetics(rng *rand.Rand) kinetics {
	k := kinetics{sweeps: 6}
	k.complexes = pick(rng, 0, .3)
	k.correlated = pick(rng, 0, .3, .5, .8)
	k.steep = rng.Float64() < .15
	k.biological, k.measurement = uniform(rng, .01, .15), uniform(rng, .01, .15)
	return k
}

// ceiling is the highest expression before measurement.
const ceiling = 1.5

// drawLaws draws the rate law of every gene with a regulator.
func drawLaws(rng *rand.Rand, net *network, k kinetics) []Law {
	activators := uniform(rng, .2, .85)
	laws := make([]Law, len(net.parents))
	for j, parents := range net.parents {
		if len(parents) > 0 {
			laws[j] = drawLaw(rng, len(parents), activators, k)
		}
	}
	return laws
}

// drawLaw draws a rate law of n regulators. In Hill the strengths make every
// activator's largest effect the same, whatever its half.
func drawLaw(rng *rand.Rand, n int, activators float64, k kinetics) Law {
	l := Law{Form: Hill}
	for range n {
		sign, half, exponent := int8(-1), 0.0, 1.0
		if rng.Float64() < activators {
			sign = 1
		}
		if k.steep {
			half, exponent = uniform(rng, .4, .6), uniform(rng, 2.5, 5)
		} else {
			half = min(max(.62+.22*rng.NormFloat64(), .22), 1.34)
			if rng.Float64() >= .8 {
				exponent = float64(2 + rng.IntN(6))
			}
		}
		l.Signs, l.Half, l.Exponent = append(l.Signs, sign), append(l.Half, half), append(l.Exponent, exponent)
	}
	plus := 0
	for _, s := range l.Signs {
		if s > 0 {
			plus++
		}
	}
	l.Strength = make([]float64, n)
	interact := n == 2 && rng.Float64() < k.complexes
	switch {
	case interact && plus == 2:
		l.Form, l.Basal, l.Exponent = Synergy, .1, nil
		l.Strength[0], l.Strength[1] = 1, 1
		l.Cooperation = pick(rng, 1.0, 1, 1, 2, 3, 4)
	case interact && plus == 1:
		l.Form, l.Basal, l.Exponent = Competitive, .1, nil
		for i, s := range l.Signs {
			if s > 0 {
				l.Strength[i] = 5
			}
		}
	case plus == 0:
		l.Basal = 1
	default:
		scale := 4.0
		if plus == n {
			scale = 1
		} else {
			l.Basal = .2
		}
		for i, s := range l.Signs {
			if s > 0 {
				l.Strength[i] = scale * (1 + math.Pow(l.Half[i], l.Exponent[i]))
			}
		}
	}
	return l.rescaled()
}

// drawInputs draws n samples of every input, uniform on 0..1; one that follows
// another is a mean of the two.
func drawInputs(rng *rand.Rand, inputs table, correlated float64) {
	for _, column := range inputs {
		for r := range column {
			column[r] = rng.Float64()
		}
	}
	for i := 1; i < len(inputs); i++ {
		if rng.Float64() >= correlated {
			continue
		}
		leader, w := inputs[rng.IntN(i)], uniform(rng, .5, .95)
		for r, v := range inputs[i] {
			inputs[i][r] = w*leader[r] + (1-w)*v
		}
	}
}

// drawSyntren draws the expression of net: inputs, then rate laws with log-normal
// noise, then log-normal noise of measurement.
func drawSyntren(rng *rand.Rand, net *network, samples int, k kinetics) (table, []Law) {
	t := newTable(len(net.parents), samples)
	laws := drawLaws(rng, net, k)
	var inputs table
	driven := make([]bool, len(t))
	for j, parents := range net.parents {
		driven[j] = len(parents) > 0
	}
	for j, column := range t {
		if !driven[j] {
			inputs = append(inputs, column)
		}
	}
	if len(inputs) == 0 { // everything is in cycles: the first is held
		driven[net.order[0]] = false
		inputs = table{t[net.order[0]]}
	}
	drawInputs(rng, inputs, k.correlated)
	noise := newTable(len(t), samples)
	for _, column := range noise {
		for r := range column {
			column[r] = math.Exp(k.biological * rng.NormFloat64())
		}
	}
	sweeps := 1
	if net.cyclic {
		sweeps = k.sweeps
	}
	for range sweeps {
		for _, j := range net.order {
			if !driven[j] {
				continue
			}
			x := make([]float64, len(net.parents[j]))
			for r := range samples {
				for i, parent := range net.parents[j] {
					x[i] = t[parent][r]
				}
				t[j][r] = min(max(laws[j].rate(x)*noise[j][r], 0), ceiling)
			}
		}
	}
	for _, column := range t {
		for r := range column {
			column[r] *= math.Exp(k.measurement * rng.NormFloat64())
		}
	}
	return t, laws
}

// signsOf are the signs in laws, as table.set takes them.
func signsOf(laws []Law) func(target, k int) int8 {
	return func(target, k int) int8 { return laws[target].Signs[k] }
}

// pick draws one of values, each as likely.
func pick[T any](rng *rand.Rand, values ...T) T {
	return values[rng.IntN(len(values))]
}
