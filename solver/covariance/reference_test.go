package covariance_test

import (
	"io"
	"math"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// The numbers in this file were computed with numpy 2.4.6 (cov with bias=True,
// corrcoef), scipy 1.17.1 (stats.spearmanr, stats.rankdata, stats.norm.ppf) and
// scikit-learn 1.9.1 (covariance.LedoitWolf), in double precision.

// smallTable has ties in its second and third columns.
var smallTable = []float64{
	0.8, -1.6, -0.7, 0.5,
	-0.4, 3.3, 5.8, 1.6,
	-1.6, -0.2, 7.5, 0.4,
	0.2, -1.6, 2.2, 1.0,
	5.1, -1.6, 8.5, 7.9,
	2.9, 4.7, 5.8, 6.3,
}

// wideTable has more variables (9) than samples (4).
var wideTable = []float64{
	10.1, 10.1, 6.3, 10.0, 11.4, 8.5, 13.4, 10.1, 9.4,
	12.0, 11.5, 6.4, 10.0, 10.6, 9.8, 12.7, 9.9, 10.7,
	11.4, 8.6, 10.6, 9.8, 10.1, 8.8, 7.7, 9.8, 10.9,
	11.1, 7.4, 7.6, 10.3, 8.0, 9.5, 9.6, 11.3, 10.7,
}

// tallTable is 12 samples of 3 variables.
var tallTable = []float64{
	-0.3, -0.4, -0.3, 2.5, -0.9, -0.1, 2.4, -1.1, 0.3, 1.9, -1.5, 0.3,
	5.2, -1.3, 1.0, 5.7, -2.8, 2.3, 6.0, -2.4, 0.2, 7.3, -5.2, -0.3,
	7.7, -4.9, 2.2, 11.2, -5.3, 1.6, 10.2, -4.5, 2.3, 10.8, -4.8, 3.3,
}

// tolerance: d and M are below 20 in the tables above, so that a few tens of
// roundings of 1e-16, relative to entries below 15, are all that two correct
// implementations differ by.
const tolerance = 1e-13

func estimate(t testing.TB, rows []float64, d int, s covariance.Settings) *covariance.Result {
	t.Helper()
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sameMatrix(t *testing.T, got *dense.Sym, want []float64, tolerance float64) {
	t.Helper()
	for i, v := range got.Raw() {
		if !(math.Abs(v-want[i]) <= tolerance) {
			t.Errorf("entry (%d,%d) is %.17g, want %.17g", i/got.Len(), i%got.Len(), v, want[i])
		}
	}
}

func TestMethodsAgainstSciPy(t *testing.T) {
	for _, c := range []struct {
		method covariance.Method
		want   []float64
	}{
		{covariance.Covariance, []float64{
			4.942222222222221, -0.10499999999999979, 1.963333333333333, 6.205,
			-0.10499999999999979, 6.533333333333333, 2.3916666666666666, 1.8199999999999996,
			1.963333333333333, 2.3916666666666666, 9.995833333333334, 5.329166666666667,
			6.205, 1.8199999999999996, 5.329166666666667, 8.975833333333334,
		}},
		{covariance.Pearson, []float64{
			1, -0.01847824649487008, 0.27933374398482097, 0.9316295629673795,
			-0.01847824649487008, 1, 0.29595367639954395, 0.23766574434428456,
			0.27933374398482097, 0.29595367639954395, 1, 0.5626164287939417,
			0.9316295629673795, 0.23766574434428456, 0.5626164287939417, 1,
		}},
		{covariance.Spearman, []float64{
			1, -0.21251185925162072, 0.11595420713048968, 0.7714285714285715,
			-0.21251185925162072, 1, 0.18481233109010925, 0.15179418517972906,
			0.11595420713048968, 0.18481233109010925, 1, 0.40583972495671394,
			0.7714285714285715, 0.15179418517972906, 0.40583972495671394, 1,
		}},
		// Φ⁻¹ of rankdata/6 held within δ = 0.06732671199832592 and 1−δ.
		{covariance.Nonparanormal, []float64{
			1, -0.16258217129070868, 0.15457335657185844, 0.8193460733744145,
			-0.16258217129070868, 1, 0.1325571645256591, 0.15559539841443848,
			0.15457335657185844, 0.1325571645256591, 1, 0.4043930890954859,
			0.8193460733744145, 0.15559539841443848, 0.4043930890954859, 1,
		}},
	} {
		t.Run(c.method.String(), func(t *testing.T) {
			r := estimate(t, smallTable, 4, covariance.Settings{Method: c.method})
			sameMatrix(t, r.S, c.want, tolerance)
			if r.Samples != 6 || r.Shrinkage != 0 {
				t.Errorf("%d samples, shrinkage %v", r.Samples, r.Shrinkage)
			}
			// Whatever the method, these are the original variables'.
			for j, want := range []float64{7.0 / 6, 0.5, 29.1 / 6, 17.7 / 6} {
				if math.Abs(r.Means[j]-want) > tolerance {
					t.Errorf("mean %d is %v, want %v", j, r.Means[j], want)
				}
			}
			for j, want := range []float64{4.942222222222221, 6.533333333333333, 9.995833333333334, 8.975833333333334} {
				if got := r.StdDevs[j] * r.StdDevs[j]; math.Abs(got-want) > tolerance {
					t.Errorf("variance %d is %v, want %v", j, got, want)
				}
			}
		})
	}
}

func TestLedoitWolfAgainstScikitLearn(t *testing.T) {
	for _, c := range []struct {
		name   string
		rows   []float64
		d      int
		method covariance.Method
		weight float64
	}{
		{"covariance", smallTable, 4, covariance.Covariance, 0.7237549641784665},
		{"correlation", smallTable, 4, covariance.Pearson, 0.7866350588386705},
		{"wide, covariance", wideTable, 9, covariance.Covariance, 0.2552627605336158},
		{"wide, correlation", wideTable, 9, covariance.Pearson, 0.6954695381497459},
		{"tall, covariance", tallTable, 3, covariance.Covariance, 0.11174738030178104},
		{"tall, correlation", tallTable, 3, covariance.Pearson, 0.1426768246802897},
		{"tall, ranks", tallTable, 3, covariance.Spearman, 0.21416711051147552},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := estimate(t, c.rows, c.d, covariance.Settings{Method: c.method, LedoitWolf: true})
			if math.Abs(r.Shrinkage-c.weight) > tolerance {
				t.Errorf("weight %.17g, want %.17g", r.Shrinkage, c.weight)
			}
			by := estimate(t, c.rows, c.d, covariance.Settings{Method: c.method, Shrinkage: r.Shrinkage})
			sameMatrix(t, r.S, by.S.Raw(), 0)
		})
	}
	r := estimate(t, tallTable, 3, covariance.Settings{Method: covariance.Covariance, LedoitWolf: true})
	sameMatrix(t, r.S, []float64{
		12.095916035398687, -5.257345192838834, 2.746427752739132,
		-5.257345192838834, 3.5765247809278464, -1.1280808270167382,
		2.746427752739132, -1.1280808270167382, 1.884711961451245,
	}, tolerance)
}

// The divisor changes covariances and standard deviations by M/(M−1), and no
// correlation.
func TestDivisor(t *testing.T) {
	by := func(m covariance.Method, d covariance.Divisor) *covariance.Result {
		return estimate(t, smallTable, 4, covariance.Settings{Method: m, Divisor: d})
	}
	biased, unbiased := by(covariance.Covariance, covariance.BySamples), by(covariance.Covariance, covariance.BySamplesLess1)
	want := biased.S.Clone()
	want.Scale(6.0 / 5)
	sameMatrix(t, unbiased.S, want.Raw(), tolerance)
	for _, m := range []covariance.Method{covariance.Pearson, covariance.Spearman, covariance.Covariance} {
		r := by(m, covariance.BySamplesLess1)
		for j, sd := range r.StdDevs {
			if want := math.Sqrt(unbiased.S.At(j, j)); math.Abs(sd-want) > tolerance {
				t.Errorf("%v: standard deviation %d is %v, want %v", m, j, sd, want)
			}
		}
	}
	sameMatrix(t, by(covariance.Pearson, covariance.BySamplesLess1).S, by(covariance.Pearson, covariance.BySamples).S.Raw(), 0)
}

// A shrunk matrix is the weighted mean of S and its target.
func TestShrinkage(t *testing.T) {
	const a = 0.3
	for _, m := range []covariance.Method{covariance.Pearson, covariance.Covariance} {
		plain := estimate(t, smallTable, 4, covariance.Settings{Method: m}).S
		want := plain.Clone()
		want.Scale(1 - a)
		want.AddDiagonal(a * plain.Trace() / 4)
		r := estimate(t, smallTable, 4, covariance.Settings{Method: m, Shrinkage: a})
		sameMatrix(t, r.S, want.Raw(), tolerance)
		if m == covariance.Pearson {
			unitDiagonal(t, r.S)
		}
		if r.Shrinkage != a {
			t.Errorf("weight %v, want %v", r.Shrinkage, a)
		}
		identity := estimate(t, smallTable, 4, covariance.Settings{Method: m, Shrinkage: 1}).S
		if identity.At(0, 1) != 0 || math.Abs(identity.Trace()-plain.Trace()) > tolerance {
			t.Errorf("%v: weight 1 gives %v", m, identity.Raw())
		}
	}
}

func unitDiagonal(t testing.TB, s *dense.Sym) {
	t.Helper()
	for i := range s.Len() {
		if s.At(i, i) != 1 {
			t.Fatalf("diagonal entry %d is %.17g, want exactly 1", i, s.At(i, i))
		}
	}
}

// batches is a Source that gives a table in pieces of the given sizes, over and
// over, and spoils each piece before the next.
type batches struct {
	rows  []float64
	d     int
	sizes []int
	last  []float64
	atEOF bool // give io.EOF with the last batch rather than after it
}

func (b *batches) Next() ([]float64, int, error) {
	for i := range b.last {
		b.last[i] = math.NaN()
	}
	if len(b.rows) == 0 {
		return nil, 0, io.EOF
	}
	n := min(b.sizes[0], len(b.rows)/b.d)
	b.sizes = append(b.sizes[1:], b.sizes[0])
	b.last = append([]float64(nil), b.rows[:n*b.d]...)
	b.rows = b.rows[n*b.d:]
	if len(b.rows) == 0 && b.atEOF {
		return b.last, n, io.EOF
	}
	return b.last, n, nil
}
