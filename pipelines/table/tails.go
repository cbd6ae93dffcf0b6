package table

import (
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver/covariance"
)

// Heavy is the kurtosis m4/m2² above which a variable has heavy tails, or outliers: that
// of a Gaussian is 3, and of 40 samples of one it is hardly ever above 6.
const Heavy = 6

// HeavyShare is the share of such variables from which on ranks find more edges than the
// values do: see docs/command-line.md for the figures behind it.
const HeavyShare = 0.2

// tails has the moments of the variables of a stream of samples, and how far out the
// samples lie. Missing values are left out.
type tails struct {
	shift, unit []float64 // mean and 1/standard deviation of the first samples
	counts      []float64
	powers      [4][]float64 // Σ ((x − shift)/unit)^(k+1)
	// last is the sample before, in these units, and after Σ of its products with the next: of
	// the first mostSerial variables.
	last, after []float64
	// labels says that the first variable has whole numbers that only rise, of which lastLabel
	// is the last one.
	labels    bool
	lastLabel float64
	// corner has the first mostCorner values of the first as many samples.
	corner []float64
	// distance is Σj ((xj − shift)/unit)² of every sample, of the first mostDistances.
	distance []float64
}

// mostDistances bounds the memory for distances: of more samples no handful carries the
// variance.
const mostDistances = 100_000

// mostSerial is the number of variables that are compared with the sample before.
const mostSerial = 200

// mostCorner is the number of samples and variables that are looked at for symmetry.
const mostCorner = 64

// add takes samples in.
func (t *tails) add(rows []float64, d int) {
	if len(rows) == 0 {
		return
	}
	if t.shift == nil {
		t.begin(rows, d)
	}
	for ; len(rows) > 0; rows = rows[d:] {
		if side := min(d, mostCorner); len(t.corner) < side*side {
			t.corner = append(t.corner, rows[:side]...)
		}
		t.labels = t.labels && rows[0] > t.lastLabel && rows[0] == math.Trunc(rows[0])
		t.lastLabel = rows[0]
		var distance float64
		for j, v := range rows[:d] {
			if v != v {
				continue
			}
			y := (v - t.shift[j]) * t.unit[j]
			y2 := y * y
			distance += y2
			t.counts[j]++
			t.powers[0][j] += y
			t.powers[1][j] += y2
			t.powers[2][j] += y2 * y
			t.powers[3][j] += y2 * y2
		}
		for j := range t.last {
			y := (rows[j] - t.shift[j]) * t.unit[j]
			if y != y {
				y = 0
			}
			t.after[j] += y * t.last[j]
			t.last[j] = y
		}
		if len(t.distance) <= mostDistances {
			t.distance = append(t.distance, distance)
		}
	}
}

// begin sets shifts and units to those of the first samples, so that sums of powers lose
// little.
func (t *tails) begin(rows []float64, d int) {
	t.shift, t.unit, t.counts = make([]float64, d), make([]float64, d), make([]float64, d)
	for k := range t.powers {
		t.powers[k] = make([]float64, d)
	}
	t.last, t.after = make([]float64, min(d, mostSerial)), make([]float64, min(d, mostSerial))
	t.labels, t.lastLabel = true, math.Inf(-1)
	for j, variance := range covariance.Variances(rows, d) {
		var n, mean float64
		for i := j; i < len(rows); i += d {
			if v := rows[i]; v == v {
				n++
				mean += (v - mean) / n
			}
		}
		t.shift[j], t.unit[j] = mean, 1
		if unit := 1 / math.Sqrt(variance); !math.IsInf(unit, 0) && unit > 0 {
			t.unit[j] = unit
		}
	}
}

// sameSamples reports whether one sample in fifty, the same for all variables, has more
// than half of the sum of squares of all standardised variables.
func (t *tails) sameSamples() bool {
	m := len(t.distance)
	if m == 0 || m > mostDistances {
		return false
	}
	sorted := slices.Sorted(slices.Values(t.distance))
	var all, most float64
	for i, v := range sorted {
		all += v
		if i >= m-(m+49)/50 {
			most += v
		}
	}
	return most > all/2
}

// kurtosis is m4/m2² of every variable; NaN where it has no finite one.
func (t *tails) kurtosis() []float64 {
	k := make([]float64, len(t.shift))
	for j, n := range t.counts {
		m1, m2, m3, m4 := t.powers[0][j]/n, t.powers[1][j]/n, t.powers[2][j]/n, t.powers[3][j]/n
		second := m2 - m1*m1
		fourth := m4 - 4*m1*m3 + 6*m1*m1*m2 - 3*m1*m1*m1*m1
		k[j] = fourth / (second * second)
		if math.IsInf(k[j], 0) || second <= 0 {
			k[j] = math.NaN()
		}
	}
	return k
}

// serial is the correlation of a variable with itself one sample before, the median over
// variables; NaN where it cannot be told.
func (t *tails) serial() float64 {
	r := make([]float64, len(t.last))
	for j := range r {
		n := t.counts[j]
		mean := t.powers[0][j] / n
		r[j] = (t.after[j]/(n-1) - mean*mean) / (t.powers[1][j]/n - mean*mean)
		if math.IsInf(r[j], 0) {
			r[j] = math.NaN()
		}
	}
	return median(r)
}

// twoValued are the variables of two different values, found by Pearson's inequality: the
// kurtosis is at least the square of the skewness and 1, and no more only of those.
func (t *tails) twoValued() []int {
	var list []int
	for j, n := range t.counts {
		m1, m2, m3, m4 := t.powers[0][j]/n, t.powers[1][j]/n, t.powers[2][j]/n, t.powers[3][j]/n
		second := m2 - m1*m1
		third := m3 - 3*m1*m2 + 2*m1*m1*m1
		fourth := m4 - 4*m1*m3 + 6*m1*m1*m2 - 3*m1*m1*m1*m1
		if least := third*third/(second*second*second) + 1; second > 0 && n > 4 && fourth/(second*second)-least < 1e-9*least {
			list = append(list, j)
		}
	}
	return list
}

// HeavyTails counts the variables of a kurtosis above Heavy.
func (d *Data) HeavyTails() int { return heavy(d.Kurtosis) }

// MedianKurtosis is the median over the variables.
func (d *Data) MedianKurtosis() float64 { return median(d.Kurtosis) }

// DeviationEnds are the variables of the least and of the largest standard deviation.
func (d *Data) DeviationEnds() (least, largest int) {
	for j, sd := range d.StandardDeviations {
		if sd < d.StandardDeviations[least] {
			least = j
		}
		if sd > d.StandardDeviations[largest] {
			largest = j
		}
	}
	return least, largest
}

// heavy counts the variables of a kurtosis above Heavy.
func heavy(kurtosis []float64) int {
	n := 0
	for _, k := range kurtosis {
		if k > Heavy {
			n++
		}
	}
	return n
}

// median is the middle one of values that are not NaN, the upper one of two; NaN of none.
func median(values []float64) float64 {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return math.NaN()
	}
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// carriedByFew says whether a median kurtosis means that a handful of n samples carries
// the variance: that of a variable is n/k where k samples of one size have all of it.
// Below 30 it is not unusual for a skewed variable.
func carriedByFew(kurtosis float64, n int) bool { return kurtosis > max(30, float64(n)/4) }

// AutoCorrelation is the correlation that job.CorrelationAuto stands for, and the number
// of variables of a kurtosis above Heavy: of m·d numbers, one sample after the other, in
// which NaN is a missing value. It is that of normal scores where HeavyShare of the
// variables have such tails, unless the same few samples carry the variance of most of
// them and ranks would lose what these say; else Pearson's.
func AutoCorrelation(rows []float64, d int) (covariance.Method, int) {
	var t tails
	t.add(rows, d)
	k := t.kurtosis()
	return t.choose(k, len(rows)/d), heavy(k)
}

func (t *tails) choose(kurtosis []float64, samples int) covariance.Method {
	switch {
	case float64(heavy(kurtosis)) < HeavyShare*float64(len(kurtosis)):
		return covariance.Pearson
	case carriedByFew(median(kurtosis), samples) && t.sameSamples():
		return covariance.Pearson
	}
	return covariance.NormalScores
}
