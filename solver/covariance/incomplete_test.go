package covariance

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// A lasso is what EM solves, at its own penalty.
func lasso(d, m int) solver.Solver {
	return glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: PenaltyOfEM(d, m)}, Gap: 1e-9}}
}

// incompleteRows are m samples of d correlated variables in units of their own, a part
// of them missing.
func incompleteRows(seed uint64, m, d int, part float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([]float64, m*d)
	for k := range m {
		common := rng.NormFloat64()
		for j := range d {
			v := rng.NormFloat64() + common
			if j > 0 {
				v += 0.7 * rows[k*d+j-1] / math.Pow(10, float64(j-1))
			}
			rows[k*d+j] = v * math.Pow(10, float64(j))
		}
	}
	for i := range rows {
		if rng.Float64() < part {
			rows[i] = math.NaN()
		}
	}
	return rows
}

func clone(rows []float64) []float64 { return append([]float64(nil), rows...) }

// Without missing values every treatment is the usual estimate.
func TestIncompleteOfComplete(t *testing.T) {
	const m, d = 60, 7
	rows := incompleteRows(1, m, d, 0)
	for _, s := range []Settings{{}, {Method: Spearman}, {Method: NormalScores}, {Method: Covariance}, {Shrinkage: 0.3, Divisor: BySamplesLess1}} {
		want, err := Estimate(t.Context(), NewTable(clone(rows), d), d, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []Treatment{Pairwise, EM, Mean} {
			got, err := EstimateIncomplete(t.Context(), clone(rows), d, s, Incomplete{Treatment: how, Solver: lasso(d, m)})
			if err != nil {
				t.Fatal(err)
			}
			if got.Samples != m || got.Incomplete.Missing != 0 {
				t.Errorf("%v: %d samples, %+v", how, got.Samples, got.Incomplete)
			}
			for i := range d {
				for j := range d {
					scale := math.Sqrt(want.S.At(i, i) * want.S.At(j, j))
					if e := math.Abs(got.S.At(i, j)-want.S.At(i, j)) / scale; !(e < 1e-12) {
						t.Errorf("%v, treatment %d: entry %d, %d is %v, want %v", s.Method, how, i, j, got.S.At(i, j), want.S.At(i, j))
					}
				}
				if math.Abs(got.StdDevs[i]/want.StdDevs[i]-1) > 1e-12 {
					t.Errorf("standard deviation %v, want %v", got.StdDevs[i], want.StdDevs[i])
				}
			}
		}
	}
}

// Before the repair every entry is the correlation of the common samples, and the
// repair is the nearest correlation matrix.
func TestPairwise(t *testing.T) {
	const m, d = 40, 6
	rows := incompleteRows(2, m, d, 0.3)
	raw := dense.NewSym(d, nil)
	for i := range d {
		raw.Set(i, i, 1)
		for j := range i {
			var x, y []float64
			for k := range m {
				if a, b := rows[k*d+i], rows[k*d+j]; a == a && b == b {
					x, y = append(x, a), append(y, b)
				}
			}
			mx, sx := moments1(x)
			my, sy := moments1(y)
			var sum float64
			for k := range x {
				sum += (x[k] - mx) * (y[k] - my)
			}
			raw.Set(i, j, sum/float64(len(x))/sx/sy)
		}
	}
	got, err := EstimateIncomplete(t.Context(), rows, d, Settings{}, Incomplete{})
	if err != nil {
		t.Fatal(err)
	}
	want := dykstra(raw)
	for i := range d {
		for j := range d {
			if math.Abs(got.S.At(i, j)-want.At(i, j)) > 1e-7 {
				t.Errorf("entry %d, %d is %v, want %v", i, j, got.S.At(i, j), want.At(i, j))
			}
		}
	}
	if c := got.Incomplete; c.LeastPair >= c.MedianPair || got.Samples < c.LeastPair || got.Samples > m || c.Missing == 0 {
		t.Errorf("%d samples, %+v", got.Samples, c)
	}
}

func difference(to, a, b *mat.SymDense) {
	for i := range to.SymmetricDim() {
		for j := range i + 1 {
			to.SetSym(i, j, a.At(i, j)-b.At(i, j))
		}
	}
}

// dykstra is the nearest correlation matrix by Higham's alternating projections.
func dykstra(g *dense.Sym) *mat.SymDense {
	d := g.Len()
	y, ds := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	y.CopySym(g)
	for range 5000 {
		r := mat.NewSymDense(d, nil)
		difference(r, y, ds)
		var eigen mat.EigenSym
		eigen.Factorize(r, true)
		var v mat.Dense
		eigen.VectorsTo(&v)
		x := mat.NewSymDense(d, nil)
		for k, lambda := range eigen.Values(nil) {
			if lambda > 0 {
				x.SymRankOne(x, lambda, v.ColView(k))
			}
		}
		difference(ds, x, r)
		y.CopySym(x)
		for i := range d {
			y.SetSym(i, i, 1)
		}
	}
	return y
}

// Random symmetric matrices with ones on their diagonals, up to hopeless ones, have the
// nearest correlation matrix that alternating projections find.
func TestNearestCorrelation(t *testing.T) {
	for name, engine := range map[string]dense.Engine{"gonum": dense.Gonum{}, "default": dense.Default()} {
		for seed := range uint64(30) {
			rng := rand.New(rand.NewPCG(seed, 7))
			d := 2 + rng.IntN(9)
			g := dense.NewSym(d, nil)
			reach := []float64{0.3, 1, 1}[seed%3]
			for i := range d {
				g.Set(i, i, 1)
				for j := range i {
					g.Set(i, j, reach*(2*rng.Float64()-1))
				}
			}
			want := dykstra(g)
			x := g.Clone()
			if err := nearestCorrelation(t.Context(), x, engine); err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			var worst float64
			for i := range d {
				if x.At(i, i) != 1 {
					t.Errorf("diagonal entry %v", x.At(i, i))
				}
				for j := range d {
					worst = math.Max(worst, math.Abs(x.At(i, j)-want.At(i, j)))
				}
			}
			if worst > 1e-6 {
				t.Errorf("%s, seed %d, %d variables: %.2g from the alternating projections", name, seed, d, worst)
			}
			var eigen mat.EigenSym
			eigen.Factorize(x, false)
			if least := eigen.Values(nil)[0]; least < -1e-14*float64(d) {
				t.Errorf("the smallest eigenvalue is %v", least)
			}
		}
	}
	// Higham (2002), Section 5.
	x := dense.NewSym(3, []float64{1, 1, 0, 1, 1, 1, 0, 1, 1})
	if err := nearestCorrelation(t.Context(), x, dense.Default()); err != nil {
		t.Fatal(err)
	}
	if math.Abs(x.At(0, 1)-0.7607) > 5e-5 || math.Abs(x.At(0, 2)-0.1573) > 5e-5 {
		t.Errorf("got %v and %v, the paper has 0.7607 and 0.1573", x.At(0, 1), x.At(0, 2))
	}
}

// EM ends at a fixed point: one more step in the formulas of the conditional Gaussian
// law, written down plainly, moves nothing.
func TestEMFixedPoint(t *testing.T) {
	const m, d = 50, 5
	rows := incompleteRows(3, m, d, 0.25)
	in := &incomplete{rows: clone(rows), d: d, m: m, how: Incomplete{Treatment: EM, Solver: lasso(d, m)}}
	if err := in.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := in.standardise(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := newExpectation(in)
	s := e.start()
	var theta *dense.Sym
	for range 400 {
		est, err := in.how.Solver.Solve(t.Context(), solver.Problem{S: s, Samples: m})
		if err != nil {
			t.Fatal(err)
		}
		theta = est.Precision
		if s, err = e.step(t.Context(), theta); err != nil {
			t.Fatal(err)
		}
	}
	mu := e.mean
	// The mean and the covariance of every sample, given what is there.
	var sigma mat.Dense
	if err := sigma.Inverse(theta); err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, d)
	fills := make([][]float64, m)
	second := mat.NewSymDense(d, nil)
	for k := range m {
		x := in.rows[k*d : (k+1)*d]
		var there, missing []int
		for j, v := range x {
			if v == v {
				there = append(there, j)
			} else {
				missing = append(missing, j)
			}
		}
		fill := clone(x)
		if len(missing) > 0 && len(there) > 0 {
			soo, smo := mat.NewDense(len(there), len(there), nil), mat.NewDense(len(missing), len(there), nil)
			off := mat.NewVecDense(len(there), nil)
			for a, i := range there {
				off.SetVec(a, x[i]-mu[i])
				for b, j := range there {
					soo.Set(a, b, sigma.At(i, j))
				}
				for b, j := range missing {
					smo.Set(b, a, sigma.At(j, i))
				}
			}
			var weights, inverse mat.Dense
			if err := inverse.Inverse(soo); err != nil {
				t.Fatal(err)
			}
			weights.Mul(smo, &inverse)
			var move mat.VecDense
			move.MulVec(&weights, off)
			var explained mat.Dense
			explained.Mul(&weights, smo.T())
			for a, i := range missing {
				fill[i] = mu[i] + move.AtVec(a)
				for b, j := range missing[:a+1] {
					second.SetSym(i, j, second.At(i, j)+(sigma.At(i, j)-explained.At(a, b))/m)
				}
			}
		} else {
			for a, i := range missing {
				fill[i] = mu[i]
				for _, j := range missing[:a+1] {
					second.SetSym(i, j, second.At(i, j)+sigma.At(i, j)/m)
				}
			}
		}
		fills[k] = fill
		for j, v := range fill {
			mean[j] += v / m
		}
	}
	for i := range d {
		if math.Abs(mean[i]-mu[i]) > 1e-9 {
			t.Errorf("mean %d is %v, one more step makes it %v", i, mu[i], mean[i])
		}
		for j := range i + 1 {
			v := second.At(i, j)
			for k := range m {
				v += (fills[k][i] - mean[i]) * (fills[k][j] - mean[j]) / m
			}
			if math.Abs(v-s.At(i, j)) > 1e-9 {
				t.Errorf("entry %d, %d is %v, one more step makes it %v", i, j, s.At(i, j), v)
			}
		}
	}
	// The estimate stops next to it.
	got, err := EstimateIncomplete(t.Context(), clone(rows), d, Settings{}, Incomplete{Treatment: EM, Solver: lasso(d, m)})
	if err != nil {
		t.Fatal(err)
	}
	unitDiagonal(s)
	for i := range d {
		for j := range d {
			if math.Abs(got.S.At(i, j)-s.At(i, j)) > 100*ChangeOfEM {
				t.Errorf("entry %d, %d is %v, at the fixed point %v", i, j, got.S.At(i, j), s.At(i, j))
			}
		}
	}
	if got.Incomplete.Change > ChangeOfEM || got.Incomplete.Iterations < 3 {
		t.Errorf("%+v", got.Incomplete)
	}
}

// The number of threads changes nothing, and neither do the units.
func TestIncompleteInvariance(t *testing.T) {
	const m, d = 80, 12
	rows := incompleteRows(4, m, d, 0.2)
	other := clone(rows)
	for i := range other {
		other[i] = -4 * other[i] // a power of two: the same bits
	}
	for _, how := range []Treatment{Pairwise, EM, Mean} {
		var first *Result
		for i, of := range [][]float64{rows, rows, other} {
			s := Settings{Engine: dense.WithThreads(dense.Gonum{}, 1+i)}
			r, err := EstimateIncomplete(t.Context(), clone(of), d, s, Incomplete{Treatment: how, Solver: lasso(d, m)})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
				continue
			}
			for k, v := range r.S.Raw() {
				if v != first.S.Raw()[k] {
					t.Fatalf("treatment %d, run %d: %v, want %v", how, i, v, first.S.Raw()[k])
				}
			}
		}
	}
}

func TestIncompleteRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		rows []float64
		d    int
		s    Settings
		how  Incomplete
		want string
	}{
		"no values":   {[]float64{1, nan, 2, nan, 3, nan}, 2, Settings{Names: []string{"a", "b"}}, Incomplete{}, `column "b" (number 2) has 0 values in 3 samples`},
		"one value":   {[]float64{1, nan, 2, nan, 3, 4}, 2, Settings{}, Incomplete{Treatment: Mean}, "column 2 has 1 values"},
		"constant":    {[]float64{1, 5, 2, nan, 3, 5}, 2, Settings{}, Incomplete{}, "column 2 is constant"},
		"infinite":    {[]float64{1, 5, math.Inf(1), nan, 3, 5}, 2, Settings{}, Incomplete{}, "value +Inf in sample 2"},
		"apart":       {[]float64{1, nan, 2, nan, 3, 4, nan, 5, nan, 7}, 2, Settings{}, Incomplete{}, "column 1 has 1 samples in common with column 2"},
		"Ledoit-Wolf": {[]float64{1, 2, 2, nan, 3, 4}, 2, Settings{LedoitWolf: true}, Incomplete{}, "needs every value"},
		"one sample":  {[]float64{1, 2}, 2, Settings{}, Incomplete{}, "two samples"},
		"no solver":   {[]float64{1, 2, 2, nan, 3, 4}, 2, Settings{}, Incomplete{Treatment: EM}, "solver"},
	} {
		if _, err := EstimateIncomplete(t.Context(), c.rows, c.d, c.s, c.how); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, how := range []Treatment{Pairwise, EM, Mean} {
		if _, err := EstimateIncomplete(ctx, incompleteRows(5, 30, 4, 0.2), 4, Settings{}, Incomplete{Treatment: how, Solver: lasso(4, 30)}); !errors.Is(err, context.Canceled) {
			t.Errorf("treatment %d: %v", how, err)
		}
	}
}

func BenchmarkIncomplete(b *testing.B) {
	const m, d = 200, 300
	rows := incompleteRows(6, m, d, 0)
	rng := rand.New(rand.NewPCG(6, 2))
	for i := range rows {
		rows[i] /= math.Pow(10, float64(i%d)) // 1e299 and its square
		if rng.Float64() < 0.1 {
			rows[i] = math.NaN()
		}
	}
	for name, how := range map[string]Treatment{"pairwise": Pairwise, "em": EM} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := EstimateIncomplete(context.Background(), clone(rows), d, Settings{}, Incomplete{Treatment: how, Solver: lasso(d, m)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
