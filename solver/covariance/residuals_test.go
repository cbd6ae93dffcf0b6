package covariance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func normals(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// Residuals are those of gonum's least squares on a constant and the covariates, weighted
// or not.
func TestResidualsAreLeastSquares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, d, p := rapid.IntRange(8, 30).Draw(t, "m"), rapid.IntRange(1, 5).Draw(t, "d"), rapid.IntRange(1, 4).Draw(t, "p")
		values := normals(rapid.Uint64().Draw(t, "seed"), m*(d+p+1))
		rows, rest := values[:m*d], values[m*d:]
		weights := make([]float64, m)
		weighted := rapid.Bool().Draw(t, "weighted")
		for k := range weights {
			weights[k] = 1
			if weighted {
				weights[k] = 0.1 + math.Abs(rest[m*p+k])
			}
		}
		x := mat.NewDense(m, p+1, nil)
		covariates := make([][]float64, p)
		for j := range covariates {
			covariates[j] = rest[j*m : (j+1)*m]
			for k, v := range covariates[j] {
				covariates[j][k] = 1e3*v + 1e5
				x.Set(k, j+1, math.Sqrt(weights[k])*covariates[j][k])
			}
		}
		y := mat.NewDense(m, d, nil)
		for k := range m {
			x.Set(k, 0, math.Sqrt(weights[k]))
			for j := range d {
				rows[k*d+j] += 3 * covariates[0][k]
				y.Set(k, j, math.Sqrt(weights[k])*rows[k*d+j])
			}
		}
		var qr mat.QR
		qr.Factorize(x)
		var b, fitted mat.Dense
		if err := qr.SolveTo(&b, false, y); err != nil {
			t.Skip(err)
		}
		fitted.Mul(x, &b)
		given := weights
		if !weighted {
			given = nil
		}
		fit, err := Residuals(context.Background(), rows, d, covariates, given)
		if err != nil {
			t.Fatal(err)
		}
		if fit.Rank != p || fit.Redundant != nil || fit.Explained != nil {
			t.Errorf("%+v, want rank %d and no more", fit, p)
		}
		for k := range m {
			for j := range d {
				want := (y.At(k, j) - fitted.At(k, j)) / math.Sqrt(weights[k])
				if math.Abs(rows[k*d+j]-want) > 1e-6 { // of values near 3e5
					t.Fatalf("residual %d of variable %d is %v, want %v", k, j, rows[k*d+j], want)
				}
			}
		}
	})
}

// Covariates that others determine are named and take no degree of freedom, variables
// that they determine are named too.
func TestResidualsOfRedundant(t *testing.T) {
	const m, d = 12, 4
	age, noise := normals(1, m), normals(2, m)
	days, one, odd := make([]float64, m), make([]float64, m), make([]float64, m)
	rows := make([]float64, m*d)
	for k := range m {
		days[k], one[k], odd[k] = 365.25*age[k]+17, 4, float64(k%2)
		copy(rows[k*d:], []float64{noise[k], 5 - 2*age[k] + 1e6*odd[k], 7, noise[k] + age[k]})
	}
	fit, err := Residuals(t.Context(), rows, d, [][]float64{age, days, one, odd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(fit.Redundant); fit.Rank != 2 || len(fit.Redundant) != 2 || !slices.Contains(fit.Redundant, 2) || !slices.Equal(fit.Explained, []int{1}) {
		t.Errorf("%+v: want rank 2, the constant and one of the two ages redundant, and the second variable explained", fit)
	}
	for k := range m {
		if rows[k*d+1] != 0 || rows[k*d+2] != 7 || math.Abs(rows[k*d]-rows[k*d+3]) > 1e-12 {
			t.Fatalf("sample %d is %v: want 0 for what is explained, 7 for a constant, and equal residuals of noise and noise + age", k, rows[k*d:(k+1)*d])
		}
	}
}

// Degrees of freedom that are spent are no samples.
func TestSpent(t *testing.T) {
	const m, d = 20, 3
	rows := normals(3, m*d)
	whole, err := Estimate(t.Context(), NewTable(rows, d), d, Settings{Method: Covariance})
	if err != nil {
		t.Fatal(err)
	}
	for _, divisor := range []Divisor{BySamples, BySamplesLess1} {
		r, err := Estimate(t.Context(), NewTable(rows, d), d, Settings{Method: Covariance, Spent: 5, Divisor: divisor})
		if err != nil {
			t.Fatal(err)
		}
		of := 15.0
		if divisor == BySamplesLess1 {
			of = 14
		}
		if r.Samples != 15 || math.Abs(r.S.At(0, 1)/whole.S.At(0, 1)-m/of) > 1e-12 || math.Abs(r.StdDevs[0]/whole.StdDevs[0]-math.Sqrt(m/of)) > 1e-12 {
			t.Errorf("%d samples, S times %v, want 15 and %v", r.Samples, r.S.At(0, 1)/whole.S.At(0, 1), m/of)
		}
	}
	if _, err := Estimate(t.Context(), NewTable(rows, d), d, Settings{Spent: m - 1}); !errors.Is(err, ErrTooFewSamples) {
		t.Errorf("%v, want ErrTooFewSamples", err)
	}
}

// A sample of weight 3 counts as three times that sample, but for the effective number.
func TestWeightedIsRepeated(t *testing.T) {
	const m, d = 15, 4
	rows := normals(4, m*d)
	weights := make([]float64, m)
	var repeated []float64
	for k := range m {
		weights[k] = float64(1 + k%3)
		for range 1 + k%3 {
			repeated = append(repeated, rows[k*d:(k+1)*d]...)
		}
	}
	for _, method := range []Method{Pearson, Covariance} {
		s := Settings{Method: method, Shrinkage: 0.1}
		want, err := Estimate(t.Context(), NewTable(repeated, d), d, s)
		if err != nil {
			t.Fatal(err)
		}
		for k := range weights {
			weights[k] *= 1e200
		}
		got, err := EstimateWeighted(t.Context(), slices.Clone(rows), d, weights, s)
		if err != nil {
			t.Fatal(err)
		}
		for k := range weights {
			weights[k] /= 1e200
		}
		for i := range d {
			if math.Abs(got.Means[i]-want.Means[i]) > 1e-13 || math.Abs(got.StdDevs[i]-want.StdDevs[i]) > 1e-13 {
				t.Errorf("%v: mean and deviation %v %v, want %v %v", method, got.Means[i], got.StdDevs[i], want.Means[i], want.StdDevs[i])
			}
			for j := range d {
				if math.Abs(got.S.At(i, j)-want.S.At(i, j)) > 1e-13 {
					t.Errorf("%v: S(%d,%d) = %v, want %v", method, i, j, got.S.At(i, j), want.S.At(i, j))
				}
			}
		}
		// 30²/(5·(1 + 4 + 9)) = 900/70
		if got.Samples != 12 {
			t.Errorf("%d samples, want 12", got.Samples)
		}
	}
}

// Equal weights change nothing, with either divisor.
func TestEqualWeights(t *testing.T) {
	const m, d = 17, 3
	rows := normals(5, m*d)
	weights := slices.Repeat([]float64{0.3}, m)
	for _, divisor := range []Divisor{BySamples, BySamplesLess1} {
		s := Settings{Method: Covariance, Divisor: divisor, Spent: 2}
		want, err := Estimate(t.Context(), NewTable(rows, d), d, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := EstimateWeighted(t.Context(), slices.Clone(rows), d, weights, s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Samples != want.Samples {
			t.Errorf("%d samples, want %d", got.Samples, want.Samples)
		}
		for i, v := range want.S.Raw() {
			if math.Abs(got.S.Raw()[i]-v) > 1e-13 {
				t.Errorf("entry %d is %v, want %v", i, got.S.Raw()[i], v)
			}
		}
	}
}

func TestWeightedRefuses(t *testing.T) {
	rows := normals(6, 12)
	for name, c := range map[string]struct {
		weights []float64
		s       Settings
	}{
		"ranks":       {[]float64{1, 1, 1, 1}, Settings{Method: Spearman}},
		"Ledoit-Wolf": {[]float64{1, 1, 1, 1}, Settings{LedoitWolf: true}},
		"zero":        {[]float64{1, 1, 1, 0}, Settings{}},
		"negative":    {[]float64{1, 1, 1, -1}, Settings{}},
		"infinite":    {[]float64{1, 1, 1, math.Inf(1)}, Settings{}},
		"too few":     {[]float64{1, 1e-9, 1e-9, 1e-9}, Settings{}},
		"a number":    {[]float64{1, 1, 1}, Settings{}},
	} {
		if r, err := EstimateWeighted(t.Context(), slices.Clone(rows), 3, c.weights, c.s); err == nil {
			t.Errorf("%s: %+v, want an error", name, r)
		}
	}
}

func BenchmarkResiduals(b *testing.B) {
	const m, d, p = 500, 1000, 10
	rows, x := normals(8, m*d), normals(9, m*p)
	var covariates [][]float64
	for c := range slices.Chunk(x, m) {
		covariates = append(covariates, c)
	}
	for b.Loop() {
		if _, err := Residuals(b.Context(), rows, d, covariates, nil); err != nil {
			b.Fatal(err)
		}
	}
}
