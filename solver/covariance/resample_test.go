package covariance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// related are m samples of d variables that share causes, one sample after the other.
func related(seed uint64, m, d int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	rows := make([]float64, m*d)
	for i := range m {
		cause := rng.NormFloat64()
		for j := range d {
			rows[i*d+j] = float64(j) + cause*float64(j%3) + rng.NormFloat64()
		}
	}
	return rows
}

// A shrinker inverts what it is given, with a ridge: a solver for EM.
type shrinker struct{}

func (shrinker) Solve(_ context.Context, p solver.Problem) (*solver.Estimate, error) {
	s := p.S.Clone()
	s.AddDiagonal(0.1)
	theta := dense.NewSym(s.Len(), nil)
	dense.NewWorkspace(dense.Gonum{}, s.Len()).Inverse(theta, s)
	return &solver.Estimate{Precision: theta, Support: theta, Status: solver.Converged}, nil
}

// From all samples a Resampler estimates what was estimated from them, to the last bit,
// whatever was done to them.
func TestResamplerOfAll(t *testing.T) {
	const m, d = 30, 5
	all := make([]int, m)
	for i := range all {
		all[i] = i
	}
	for _, method := range []Method{Pearson, Spearman, Nonparanormal, Covariance, NormalScores} {
		for _, s := range []Settings{{}, {Shrinkage: 0.3}, {LedoitWolf: true}, {Divisor: BySamplesLess1}} {
			for _, treatment := range []Treatment{-1, Pairwise, EM, Mean} {
				if s.LedoitWolf && (treatment == Pairwise || treatment == EM) {
					continue
				}
				s.Method = method
				rows := related(1, m, d)
				r := &Resampler{Rows: slices.Clone(rows), D: d, Settings: s}
				var err error
				if treatment >= 0 {
					rows[3], rows[41], rows[77] = math.NaN(), math.NaN(), math.NaN()
					r.Rows = slices.Clone(rows)
					r.Treatment = func(int, dense.Engine) Incomplete { return Incomplete{Treatment: treatment, Solver: shrinker{}} }
					r.Whole, err = EstimateIncomplete(t.Context(), rows, d, s, r.Treatment(m, nil))
				} else {
					r.Whole, err = Estimate(t.Context(), NewTable(rows, d), d, s)
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Estimate(t.Context(), all, s.engine())
				if err != nil || !slices.Equal(got.Raw(), r.Whole.S.Raw()) {
					t.Errorf("%v, %+v, treatment %d: %v, and from all samples\n%v, %v", method, s, treatment, got, r.Whole.S, err)
				}
			}
		}
	}
}

// A variable that does not vary in a subsample is related to nothing there.
func TestResamplerOfConstants(t *testing.T) {
	const m, d = 12, 3
	rows := related(2, m, d)
	for i := range m {
		rows[i*d+1] = 0
	}
	rows[(m-1)*d+1] = 1
	r := resamplerOf(t, rows, d, Settings{Method: Covariance})
	s, err := r.Estimate(t.Context(), []int{0, 1, 2, 3, 4, 5}, dense.Gonum{})
	if err != nil {
		t.Fatal(err)
	}
	if s.At(0, 1) != 0 || s.At(1, 2) != 0 || s.At(1, 1) != r.Whole.S.At(1, 1) || s.At(0, 2) == 0 {
		t.Errorf("%v", s.Raw())
	}
	if s, err = r.Estimate(t.Context(), []int{4}, dense.Gonum{}); err != nil || s.At(0, 2) != 0 || !(s.At(0, 0) > 0) {
		t.Errorf("one sample: %v, %v", s, err)
	}
}

func resamplerOf(t *testing.T, rows []float64, d int, s Settings) *Resampler {
	t.Helper()
	whole, err := Estimate(t.Context(), NewTable(rows, d), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return &Resampler{Rows: rows, D: d, Settings: s, Whole: whole}
}

// Held out are second moments about the means of the others, in their units.
func TestHeldOut(t *testing.T) {
	const m, d = 20, 4
	rows := related(3, m, d)
	r := resamplerOf(t, rows, d, Settings{})
	train, held := []int{0, 2, 3, 5, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18}, []int{1, 4, 6, 10, 15, 19}
	scores, err := r.Scores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.HeldOut(t.Context(), scores, train, held, nil, dense.Gonum{})
	if err != nil {
		t.Fatal(err)
	}
	var mean, sd [d]float64
	for j := range d {
		for _, i := range train {
			mean[j] += rows[i*d+j] / float64(len(train))
		}
		for _, i := range train {
			sd[j] += (rows[i*d+j] - mean[j]) * (rows[i*d+j] - mean[j]) / float64(len(train))
		}
		sd[j] = math.Sqrt(sd[j])
	}
	for a := range d {
		for b := range d {
			var want float64
			for _, i := range held {
				want += (rows[i*d+a] - mean[a]) / sd[a] * (rows[i*d+b] - mean[b]) / sd[b] / float64(len(held))
			}
			if math.Abs(got.At(a, b)-want) > 1e-12 {
				t.Errorf("(%d, %d): %v, want %v", a, b, got.At(a, b), want)
			}
		}
	}
	// A missing value leaves its pairs to the samples that have both, and to train where
	// there is none.
	lacking := slices.Clone(scores)
	for _, i := range held {
		lacking[i*d] = math.NaN()
	}
	trained := dense.Identity(d)
	trained.Set(0, 1, 0.5)
	missing, err := r.HeldOut(t.Context(), lacking, train, held, trained, dense.Gonum{})
	if err != nil || missing.At(0, 1) != 0.5 || missing.At(0, 0) != 1 || math.Abs(missing.At(1, 2)-got.At(1, 2)) > 1e-12 {
		t.Errorf("with missing values %v, %v", missing, err)
	}
}

// A weight of three is a sample that is there three times, in train and in held alike.
func TestHeldOutWeighted(t *testing.T) {
	const m, d = 20, 4
	rows := related(3, m, d)
	train, held := []int{0, 2, 3, 5, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18}, []int{1, 4, 6, 10, 15, 19}
	for _, method := range []Method{Pearson, Covariance} {
		r := resamplerOf(t, rows, d, Settings{Method: method})
		r.Weights = make([]float64, m)
		var again []float64
		var trainAgain, heldAgain []int
		for i := range m {
			r.Weights[i] = float64(i%3 + 1)
			for range i%3 + 1 {
				if slices.Contains(train, i) {
					trainAgain = append(trainAgain, len(again)/d)
				} else {
					heldAgain = append(heldAgain, len(again)/d)
				}
				again = append(again, rows[i*d:(i+1)*d]...)
			}
		}
		got, err := r.HeldOut(t.Context(), rows, train, held, nil, dense.Gonum{})
		if err != nil {
			t.Fatal(err)
		}
		repeated := resamplerOf(t, again, d, Settings{Method: method})
		want, err := repeated.HeldOut(t.Context(), again, trainAgain, heldAgain, nil, dense.Gonum{})
		if err != nil {
			t.Fatal(err)
		}
		for a := range d {
			for b := range d {
				if math.Abs(got.At(a, b)-want.At(a, b)) > 1e-12 {
					t.Errorf("%v (%d, %d): %v, want %v", method, a, b, got.At(a, b), want.At(a, b))
				}
			}
		}
		if share, want := r.Share(held), float64(len(heldAgain))/float64(repeated.Samples()); math.Abs(share-want) > 1e-15 {
			t.Errorf("the share of those held out is %v, want %v", share, want)
		}
	}
}

// Permuted samples have the variables they had, related by chance: over permutations the mean
// correlation is zero, and its spread 1/√(M−1).
func TestPermuted(t *testing.T) {
	const m, d, times = 40, 3, 400
	r := resamplerOf(t, related(4, m, d), d, Settings{LedoitWolf: true})
	before := slices.Clone(r.Rows)
	var sum, squares float64
	for k := range times {
		s, err := r.Permuted(t.Context(), rand.New(rand.NewPCG(5, uint64(k))), dense.Gonum{})
		if err != nil || s.At(1, 1) != 1 {
			t.Fatal(s, err)
		}
		v := s.At(1, 2) / (1 - r.Whole.Shrinkage) // the weight of all samples
		sum += v / times
		squares += v * v / times
	}
	if math.Abs(sum) > 4/math.Sqrt((m-1)*times) || math.Abs(squares*(m-1)-1) > 0.3 {
		t.Errorf("mean %v, variance %v, want 0 and %v", sum, squares, 1./(m-1))
	}
	if !slices.Equal(before, r.Rows) {
		t.Error("the samples were changed")
	}
}

func TestResamplerRefuses(t *testing.T) {
	const d = 2
	rows := []float64{1, math.NaN(), 2, math.NaN(), 3, math.NaN(), math.NaN(), 1, math.NaN(), 2, math.NaN(), 4, 1, 2, 2, 2.5, 5, 3, 4, 4}
	r := &Resampler{Rows: rows, D: d, Treatment: func(int, dense.Engine) Incomplete { return Incomplete{} }}
	var err error
	if r.Whole, err = EstimateIncomplete(t.Context(), slices.Clone(rows), d, Settings{}, Incomplete{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Estimate(t.Context(), []int{0, 1, 2, 3, 4, 5}, dense.Gonum{}); !errors.Is(err, ErrTooFewTogether) {
		t.Errorf("%v, want ErrTooFewTogether", err)
	}
}
