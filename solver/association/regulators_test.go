package association_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// Every column of B is a ridge regression on the regulators other than the variable,
// solved on its own.
func TestRidge(t *testing.T) {
	const n, d, weight = 14, 12, 0.2
	regulators := []int{1, 4, 5, 8, 11}
	r := correlation(t, samples(n, d, 8), d, covariance.Pearson)
	b, definite, err := association.Scorer{}.Ridge(t.Context(), r, regulators, weight)
	if err != nil || !definite {
		t.Fatal(definite, err)
	}
	for j := range d {
		var others []int // places among the regulators
		for k, i := range regulators {
			if i != j {
				others = append(others, k)
			} else if b[k*d+j] != 0 {
				t.Errorf("%d regulates itself by %v", j, b[k*d+j])
			}
		}
		m := len(others)
		a, y := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
		for x, k := range others {
			for z, l := range others {
				v := (1 - weight) * r.At(regulators[k], regulators[l])
				if k == l {
					v = 1
				}
				a.Set(x, z, v)
			}
			y.SetVec(x, (1-weight)*r.At(regulators[k], j))
		}
		var want mat.VecDense
		if err := want.SolveVec(a, y); err != nil {
			t.Fatal(err)
		}
		for x, k := range others {
			if got := b[k*d+j]; math.Abs(got-want.AtVec(x)) > 1e-12 {
				t.Errorf("%d → %d: %v, want %v", regulators[k], j, got, want.AtVec(x))
			}
		}
	}
	ones := dense.NewSym(2, []float64{1, 1, 1, 1})
	if _, definite, err := (association.Scorer{}).Ridge(t.Context(), ones, []int{0, 1}, 0); definite || err != nil {
		t.Errorf("a singular matrix has an inverse: %v", err)
	}
}

func TestDirectedScores(t *testing.T) {
	const d = 6
	regulators := []int{0, 3}
	r := correlation(t, samples(20, d, 9), d, covariance.Pearson)
	scores := association.FromRegulators(r, regulators)
	var pairs []float64
	for k, i := range regulators {
		for j := range d {
			want := r.At(i, j)
			if i == j {
				want = 0
			} else {
				pairs = append(pairs, math.Abs(want))
			}
			if scores[k*d+j] != want {
				t.Errorf("%d → %d: %v, want %v", i, j, scores[k*d+j], want)
			}
		}
	}
	mean, sd := stat.PopMeanStdDev(pairs, nil)
	association.StandardiseDirected(scores, regulators, d)
	for k, i := range regulators {
		for j := range d {
			want := (math.Abs(r.At(i, j)) - mean) / sd
			if i == j {
				want = 0
			}
			if math.Abs(scores[k*d+j]-want) > 1e-12 {
				t.Errorf("%d → %d: %v, want %v", i, j, scores[k*d+j], want)
			}
		}
	}
}
