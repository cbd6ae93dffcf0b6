package glad

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// positiveDefinite reports whether Cholesky's factorisation succeeds after
// scaling to unit diagonal, which changes nothing but the range of numbers.
func positiveDefinite(a *dense.Sym) bool {
	d := a.Len()
	b := dense.NewSym(d, nil)
	for i := range d {
		for j := range d {
			b.Raw()[i*d+j] = a.At(i, j) / math.Sqrt(a.At(i, i)) / math.Sqrt(a.At(j, j))
		}
	}
	_, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(b, make([]float64, d*d))
	return ok
}

// checkEstimate checks what every estimate of this package promises.
func checkEstimate(t interface{ Errorf(string, ...any) }, est *solver.Estimate) {
	if !est.Precision.Finite() || !est.Support.Finite() {
		t.Errorf("the estimate is not finite")
		return
	}
	if est.Precision.Asymmetry() != 0 || est.Support.Asymmetry() != 0 {
		t.Errorf("the estimate is not symmetric")
	}
	if !positiveDefinite(est.Precision) {
		t.Errorf("Θ is not positive definite")
	}
	for _, v := range est.Support.Raw() {
		if v == 0 && math.Signbit(v) {
			t.Errorf("Z has a negative zero")
			break
		}
	}
	for _, v := range []float64{est.Objective, est.DualityGap, est.KKTResidual} {
		if !math.IsNaN(v) {
			t.Errorf("a solver without an objective states %v", v)
		}
	}
}

// Any weights, any activation, S of any rank and a scale per variable.
func TestPositiveDefiniteForAnyModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 10, Sigmoid, Exp, Identity, Tanh)
		m.Theta0Offset = math.Pow(10, rapid.Float64Range(-20, 3).Draw(t, "log t"))
		m.Scaling = rapid.SampledFrom([]Scaling{
			{Mode: ScalingNone}, {Mode: ScalingCorrelation}, {Mode: ScalingGlobal, MeanDiagonal: 0.7},
		}).Draw(t, "scaling")
		a := drawCovariance(t, 24)
		all := rapid.Float64Range(-6, 6).Draw(t, "scale")
		for i := range a.Len() {
			f := math.Pow(10, all)
			if rapid.Bool().Draw(t, "own scale") {
				f = math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "scale"))
			}
			for j := range a.Len() {
				v := a.At(i, j) * f
				if i == j {
					v *= f
				}
				a.Set(i, j, v)
			}
		}
		est := solve(t, Solver{Model: m}, a)
		checkEstimate(t, est)
		if est.Status != solver.Completed && est.Status != solver.Stalled {
			t.Errorf("status %v", est.Status)
		}
	})
}

// With thresholds that are never negative and a positive λ nothing can leave
// float64, whatever the scale of S.
func TestExtremeScales(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a := randomCovariance(r, 12, 5)
	for _, m := range []*Model{paperModel(r, 30), builtinModel(t, "constant-untrained")} {
		for _, mode := range []ScalingMode{ScalingNone, ScalingCorrelation} {
			m.Scaling.Mode = mode
			for exponent := -140; exponent <= 140; exponent += 20 {
				b := a.Clone()
				b.Scale(math.Pow(10, float64(exponent)))
				est := solve(t, Solver{Model: m}, b)
				checkEstimate(t, est)
				if est.Status != solver.Completed {
					t.Errorf("%s, scaling %s, S·1e%d: status %v", m.Name, mode, exponent, est.Status)
				}
			}
		}
	}
}

// A λ of zero, or too large for float64, is taken to the nearest usable one.
func TestPenaltyAtTheEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	a := randomCovariance(r, 10, 4) // rank 4
	for _, bias := range []float64{-1e4, -700, -100, 100, 700, 1e4} {
		for _, last := range []Activation{Sigmoid, Exp, Identity} {
			m := paperModel(r, 10)
			m.Lambda = Network{Inputs: []Feature{Norm2}, Layers: []Layer{{
				Weights: [][]float64{{1e-3}}, Bias: []float64{bias}, Activation: last,
			}}}
			est := solve(t, Solver{Model: m}, a)
			checkEstimate(t, est)
			if est.Status != solver.Completed {
				t.Errorf("%s of %g: status %v", last, bias, est.Status)
			}
		}
	}
}

// As λ falls Θ tends to the inverse of a regular S: the limit is the literal
// equation's, and the floor must not spoil it.
func TestTinyPenaltyGivesTheInverse(t *testing.T) {
	a := randomCovariance(rand.New(rand.NewPCG(1, 5)), 8, 200)
	m := paperModel(rand.New(rand.NewPCG(1, 6)), 3)
	m.Lambda = Network{Inputs: []Feature{Norm2}, Layers: []Layer{{
		Weights: [][]float64{{0}}, Bias: []float64{-1e4}, Activation: Sigmoid, // underflows to 0
	}}}
	inverse := dense.NewSym(8, nil)
	dense.NewWorkspace(dense.Gonum{}, 8).Inverse(inverse, a)
	est := solve(t, Solver{Model: m}, a)
	if got := distance(est.Precision, inverse); got > 1e-10 {
		t.Errorf("Θ differs from S⁻¹ by %g", got)
	}
}

// Where S is singular it tends to the inverse on the range of S, SΘS = S, as
// long as λ stays above what rounding makes of the other directions.
func TestTinyPenaltyOnSingularCovariance(t *testing.T) {
	const d = 12
	a := randomCovariance(rand.New(rand.NewPCG(1, 10)), d, 5)
	m := paperModel(rand.New(rand.NewPCG(1, 6)), 1)
	m.Lambda = Network{Inputs: []Feature{Norm2}, Layers: []Layer{{
		Weights: [][]float64{{0}}, Bias: []float64{-1e4}, Activation: Sigmoid,
	}}}
	theta := solve(t, Solver{Model: m}, a).Precision
	w := dense.NewWorkspace(dense.Gonum{}, d)
	half, got := make([]float64, d*d), dense.NewSym(d, nil)
	w.Mul(half, a, theta)
	dense.Gonum{}.Gemm(false, false, d, d, d, 1, half, d, a.Raw(), d, 0, got.Raw(), d)
	// Θ is 1/(16dε‖S‖) in the other directions and rounds to dε of that, which
	// is 1/(16‖S‖); S on both sides makes it ‖S‖/16.
	if e := distance(got, a); e > norm(a)/16 {
		t.Errorf("SΘS differs from S by %g", e)
	}
}

// Squares of eigenvalues overflow before the eigenvalues do.
func TestThetaOfHugeEigenvalues(t *testing.T) {
	s := dense.NewSym(2, []float64{3e200, 0, 0, 5e200})
	c := loaded(t, paperModel(rand.New(rand.NewPCG(1, 6)), 1), s, dense.Gonum{})
	if err := c.Initial(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if err := c.thetaStep(context.Background(), 1e-3); err != nil {
		t.Fatal(err)
	}
	// φ(s/λ) = 1/s but for terms of order λ/s².
	for i := range 2 {
		if e := c.next.At(i, i)*s.At(i, i) - 1; math.Abs(e) > 1e-14 {
			t.Errorf("Θ(%d,%d) = %v, want %v", i, i, c.next.At(i, i), 1/s.At(i, i))
		}
	}
}

func TestDivergingModelStalls(t *testing.T) {
	m := paperModel(rand.New(rand.NewPCG(1, 7)), 400)
	// ρ = −10|Θ| multiplies Z by 11 in every cell.
	m.Rho = Network{Inputs: []Feature{AbsTheta}, Layers: []Layer{{
		Weights: [][]float64{{-10}}, Bias: []float64{0}, Activation: Identity,
	}}}
	est := solve(t, Solver{Model: m}, randomCovariance(rand.New(rand.NewPCG(1, 8)), 6, 12))
	checkEstimate(t, est)
	if est.Status != solver.Stalled || est.Iterations == 0 || est.Iterations >= 400 {
		t.Errorf("status %v after %d iterations; want stalled on the way", est.Status, est.Iterations)
	}
}

func TestOffsetThatDoesNotHelp(t *testing.T) {
	// Cholesky factors the second one, but what it gives is rounding.
	for _, last := range []float64{1, 1 + 0x1p-51} {
		singular := dense.NewSym(2, []float64{1, 1, 1, last})
		for _, offset := range []float64{0, -0.5, -5} {
			m := paperModel(rand.New(rand.NewPCG(1, 9)), 3)
			m.Theta0Offset = offset
			if est, err := (Solver{Model: m}).Solve(context.Background(), solver.Problem{S: singular}); err == nil {
				t.Errorf("t = %v on the singular S %v gives status %v; want an error", offset, singular.Raw(), est.Status)
			}
		}
	}
}

func TestPermutationEquivariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 0.5, Sigmoid)
		a := drawCovariance(t, 20)
		order := make([]int, a.Len())
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		want, got := solve(t, Solver{Model: m}, a), solve(t, Solver{Model: m}, a.Submatrix(order))
		tolerance := 1e-9 * (1 + norm(want.Precision))
		if e := distance(got.Precision, want.Precision.Submatrix(order)); e > tolerance {
			t.Errorf("Θ is not equivariant: off by %g", e)
		}
		if e := distance(got.Support, want.Support.Submatrix(order)); e > tolerance {
			t.Errorf("Z is not equivariant: off by %g", e)
		}
	})
}

func TestSignEquivariance(t *testing.T) {
	symmetric := []Feature{Lambda, AbsTheta, AbsS, AbsZ, NegThetaS, Diagonal, Context}
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, symmetric, 0.5, Sigmoid)
		a := drawCovariance(t, 20)
		flip := rapid.SliceOfN(rapid.Bool(), a.Len(), a.Len()).Draw(t, "flip")
		flipped := func(a *dense.Sym) *dense.Sym {
			b := a.Clone()
			for i := range flip {
				for j := range flip {
					if flip[i] != flip[j] {
						b.Raw()[i*len(flip)+j] *= -1
					}
				}
			}
			return b
		}
		want, got := solve(t, Solver{Model: m}, a), solve(t, Solver{Model: m}, flipped(a))
		tolerance := 1e-9 * (1 + norm(want.Precision))
		if e := distance(got.Precision, flipped(want.Precision)); e > tolerance {
			t.Errorf("Θ is not equivariant: off by %g", e)
		}
		if e := distance(got.Support, flipped(want.Support)); e > tolerance {
			t.Errorf("Z is not equivariant: off by %g", e)
		}
	})
}

// A factor that is a power of two rounds nowhere, so that the scalings must
// repeat bit by bit.
func TestScalingsAreExactlyEquivariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, rhoFeatures(), 0.5, Sigmoid)
		a := drawCovariance(t, 20)
		factor := make([]float64, a.Len())
		if rapid.Bool().Draw(t, "global") {
			m.Scaling = Scaling{Mode: ScalingGlobal, MeanDiagonal: rapid.Float64Range(0.1, 3).Draw(t, "c")}
			for i := range factor {
				factor[i] = 8
			}
		} else {
			m.Scaling = Scaling{Mode: ScalingCorrelation, MeanDiagonal: rapid.SampledFrom([]float64{0, 0.35, 2}).Draw(t, "diagonal")}
			for i := range factor {
				factor[i] = math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "exponent"))
			}
		}
		b := a.Clone()
		for i := range factor {
			for j := range factor {
				b.Raw()[i*len(factor)+j] *= factor[i] * factor[j]
			}
		}
		want, got := solve(t, Solver{Model: m}, a), solve(t, Solver{Model: m}, b)
		for i := range factor {
			for j := range factor {
				f := factor[i] * factor[j]
				if want.Precision.At(i, j) != got.Precision.At(i, j)*f || want.Support.At(i, j) != got.Support.At(i, j)*f {
					t.Fatalf("entry (%d,%d) is %v and %v, want %v and %v", i, j,
						got.Precision.At(i, j)*f, got.Support.At(i, j)*f, want.Precision.At(i, j), want.Support.At(i, j))
				}
			}
		}
	})
}

// Scaling mode global is GLAD(S) := GLAD(S/c')/c' by definition.
func TestGlobalScaling(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	a := randomCovariance(r, 9, 20)
	m := paperModel(r, 10)
	c := a.Trace() / 9 / 0.25
	b := a.Clone()
	b.Scale(1 / c)
	want := solve(t, Solver{Model: m}, b).Precision
	want.Scale(1 / c)
	m.Scaling = Scaling{Mode: ScalingGlobal, MeanDiagonal: 0.25}
	if got := distance(solve(t, Solver{Model: m}, a).Precision, want); got > 1e-12 {
		t.Errorf("off by %g", got)
	}
}

// One variable is a closed form: the scalar recursion.
func TestOneVariable(t *testing.T) {
	constant := func(v float64) []Layer {
		return []Layer{{Weights: [][]float64{{0}}, Bias: []float64{v}, Activation: Identity}}
	}
	const rho, lambda, s, offset = 0.25, 0.5, 2.0, 0.1
	m := &Model{
		Name: "one", Kind: GLAD, Iterations: 3, Theta0Offset: offset, Lambda0: 1,
		Rho: Network{Inputs: []Feature{Theta}, Layers: constant(rho)}, Scaling: Scaling{Mode: ScalingNone},
		Lambda: Network{Inputs: []Feature{Lambda}, Layers: constant(lambda)},
	}
	z := 1 / (s + offset)
	var theta float64
	for range 3 {
		y := s/lambda - z
		theta = (-y + math.Sqrt(y*y+4/lambda)) / 2
		z = max(theta-rho, 0)
	}
	est := solve(t, Solver{Model: m}, dense.NewSym(1, []float64{s}))
	if e := math.Abs(est.Precision.At(0, 0) - theta); e > 1e-14 {
		t.Errorf("Θ = %v, want %v", est.Precision.At(0, 0), theta)
	}
	if e := math.Abs(est.Support.At(0, 0) - z); e > 1e-14 {
		t.Errorf("Z = %v, want %v", est.Support.At(0, 0), z)
	}
}

func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	a := randomCovariance(r, 150, 90)
	m := paperModel(r, 5)
	var want *solver.Estimate
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cores)
		got := solve(t, Solver{Model: m}, a)
		if want == nil {
			want = got
		}
		if !slices.Equal(want.Precision.Raw(), got.Precision.Raw()) || !slices.Equal(want.Support.Raw(), got.Support.Raw()) {
			t.Errorf("%d cores give other bits than one", cores)
		}
	}
}
