package covariance_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// normalTable is m samples of d correlated normal variables.
func normalTable(seed uint64, m, d int) []float64 {
	r := rand.New(rand.NewPCG(seed, 17))
	rows := make([]float64, m*d)
	for k := range m {
		common := r.NormFloat64()
		for j := range d {
			rows[k*d+j] = r.NormFloat64() + common*float64(j%3)/2
		}
	}
	return rows
}

// exact is the covariance with divisor M in 600-bit arithmetic.
func exact(rows []float64, d int) *dense.Sym {
	m := len(rows) / d
	newFloat := func(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }
	mean := make([]*big.Float, d)
	for j := range mean {
		mean[j] = newFloat(0)
		for k := range m {
			mean[j].Add(mean[j], newFloat(rows[k*d+j]))
		}
		mean[j].Quo(mean[j], newFloat(float64(m)))
	}
	s := dense.NewSym(d, nil)
	for i := range d {
		for j := range i + 1 {
			sum := newFloat(0)
			for k := range m {
				a := newFloat(rows[k*d+i])
				b := newFloat(rows[k*d+j])
				a.Sub(a, mean[i])
				b.Sub(b, mean[j])
				sum.Add(sum, a.Mul(a, b))
			}
			sum.Quo(sum, newFloat(float64(m)))
			v, _ := sum.Float64()
			s.Set(i, j, v)
		}
	}
	return s
}

// Every entry has a relative error, on the scale of correlations, of a few
// roundings, whatever the units and the offsets: no more than √M·1e-16 times a
// small constant.
func TestAccuracyInBadUnits(t *testing.T) {
	const m, d = 700, 6 // three blocks
	base := normalTable(1, m, d)
	for name, f := range map[string]func(j, k int, v float64) float64{
		"large mean, small deviation": func(_, _ int, v float64) float64 { return 1e8 + 1e-3*v },
		"scales 1e-6 to 1e6":          func(j, _ int, v float64) float64 { return v * math.Pow(10, float64(-6+12*j/(d-1))) },
		"nearly subnormal":            func(_, _ int, v float64) float64 { return v * 1e-152 },
		"large":                       func(_, _ int, v float64) float64 { return v * 1e150 },
		"growing":                     func(_, k int, v float64) float64 { return v * math.Pow(10, float64(k/100)) },
		"first sample astray": func(_, k int, v float64) float64 {
			if k == 0 {
				return 1e6
			}
			return v
		},
		"drift": func(_, k int, v float64) float64 { return v + 100*float64(k) },
		"shift between blocks": func(_, k int, v float64) float64 {
			if k >= 256 {
				return v + 1e7
			}
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows := make([]float64, m*d)
			for i, v := range base {
				rows[i] = f(i%d, i/d, v)
			}
			want := exact(rows, d)
			got := estimate(t, rows, d, covariance.Settings{Method: covariance.Covariance})
			correlation := estimate(t, rows, d, covariance.Settings{})
			unitDiagonal(t, correlation.S)
			for i := range d {
				for j := range d {
					unit := math.Sqrt(want.At(i, i)) * math.Sqrt(want.At(j, j))
					if e := math.Abs(got.S.At(i, j)-want.At(i, j)) / unit; !(e < 1e-14) {
						t.Errorf("entry (%d,%d) of the covariance is off by %.2g", i, j, e)
					}
					if e := math.Abs(correlation.S.At(i, j) - want.At(i, j)/unit); !(e < 1e-14) {
						t.Errorf("entry (%d,%d) of the correlation is off by %.2g", i, j, e)
					}
				}
			}
		})
	}
}

// Correlations need no square of a variable in its units: they come out the
// same, bit by bit, for units of 2^±900, in which no variance is a float64, and
// standard deviations scale exactly.
func TestCorrelationBeyondTheRangeOfVariances(t *testing.T) {
	const m, d = 300, 4
	rows := normalTable(2, m, d)
	for _, method := range []covariance.Method{covariance.Pearson, covariance.Spearman, covariance.Nonparanormal, covariance.NormalScores} {
		want := estimate(t, rows, d, covariance.Settings{Method: method, LedoitWolf: true})
		scaled := make([]float64, len(rows))
		exponents := [d]int{900, -900, 0, -960}
		for i, v := range rows {
			scaled[i] = math.Ldexp(v, exponents[i%d])
		}
		got := estimate(t, scaled, d, covariance.Settings{Method: method, LedoitWolf: true})
		sameMatrix(t, got.S, want.S.Raw(), 0)
		for j, sd := range got.StdDevs {
			if sd != math.Ldexp(want.StdDevs[j], exponents[j]) {
				t.Errorf("%v: standard deviation %d is %v", method, j, sd)
			}
		}
	}
}

// Subnormal values have few bits, but what they have is used.
func TestSubnormal(t *testing.T) {
	const unit = 0x1p-1074
	r := estimate(t, []float64{0, 3 * unit, unit, 2 * unit, 2 * unit, 1 * unit, 3 * unit, 0}, 2, covariance.Settings{})
	sameMatrix(t, r.S, []float64{1, -1, -1, 1}, 1e-15)
}

// Both engines agree, and the number of blocks does not matter.
func TestEngines(t *testing.T) {
	openblas, err := dense.Open("openblas")
	if err != nil {
		t.Skip(err)
	}
	for _, m := range []int{2, 255, 256, 257, 1000} {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			const d = 40
			rows := normalTable(uint64(m), m, d)
			for _, method := range []covariance.Method{covariance.Pearson, covariance.Spearman} {
				a := estimate(t, rows, d, covariance.Settings{Method: method, Engine: dense.Gonum{}})
				b := estimate(t, rows, d, covariance.Settings{Method: method, Engine: openblas})
				// Sums of at most 1000 products in two orders.
				sameMatrix(t, a.S, b.S.Raw(), 1e-13)
			}
		})
	}
}
