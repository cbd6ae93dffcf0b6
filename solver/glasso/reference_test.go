package glasso

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// certified are the three solvers of the graphical lasso proper.
func certified(s Settings) map[string]solver.Solver {
	return map[string]solver.Solver{"bcd": BCD{s}, "gista": GISTA{s}, "admm": ADMM{Settings: s}}
}

// covarianceOf is the sample covariance of rows, centred, with the divisor
// M − correction.
func covarianceOf(rows [][]float64, correction int) *dense.Sym {
	m, d := len(rows), len(rows[0])
	mean := make([]float64, d)
	for _, r := range rows {
		for j, v := range r {
			mean[j] += v / float64(m)
		}
	}
	s := dense.NewSym(d, nil)
	for i := range d {
		for j := range i + 1 {
			var c float64
			for _, r := range rows {
				c += (r[i] - mean[i]) * (r[j] - mean[j])
			}
			s.Set(i, j, c/float64(m-correction))
		}
	}
	return s
}

func irisRows(from, to int) [][]float64 {
	var rows [][]float64
	for i := range iris[from:to] {
		rows = append(rows, iris[from+i][:])
	}
	return rows
}

// mazumderHastie is example 1 of "The graphical lasso: new insights and
// alternatives" (2012), on which the published glasso of the time failed.
var mazumderHastie = [][]float64{
	{1.39590782, -0.29633772, 0.32335144, 0.34210203, 0.17925835},
	{0.37687905, 0.32703238, -0.46592894, 0.05935433, -0.08898228},
}

// TestReferenceValues holds the three solvers to published and independently
// computed solutions. Entries are (row, column, value), counted from one;
// what is not listed off the diagonal is zero when complete is set.
func TestReferenceValues(t *testing.T) {
	type entry struct {
		i, j int
		v    float64
	}
	cases := []struct {
		name      string
		s         *dense.Sym
		penalty   Penalty
		objective float64 // NaN if not known
		complete  bool
		entries   []entry
	}{
		{"iris 1.0", covarianceOf(irisRows(0, 150), 0), Penalty{Rho: 1}, 2.447444424361, true, []entry{
			{1, 1, 1.51907471}, {2, 2, 5.29905512}, {3, 3, 0.34986243}, {4, 4, 1.81643529},
			{1, 3, -0.13044745}, {3, 4, -0.16839464}}},
		{"iris 0.1", covarianceOf(irisRows(0, 150), 0), Penalty{Rho: 0.1}, -0.152742566809, false, []entry{
			{1, 1, 4.13130634}, {2, 2, 5.81398246}, {3, 3, 2.14574672}, {4, 4, 8.19753439},
			{1, 3, -1.55592163}, {2, 3, 0.42721355}, {3, 4, -3.14334854}}},
		{"iris 0.1 diagonal", covarianceOf(irisRows(0, 150), 0), Penalty{Rho: 0.1, Diagonal: true}, 1.385362524417, false, []entry{
			{1, 1, 2.81061217}, {2, 2, 3.66942606}, {3, 3, 1.28970048}, {4, 4, 4.23314113},
			{1, 3, -1.02539983}, {2, 3, 0.26119295}, {3, 4, -1.57240363}}},
		{"iris rows 10..12", covarianceOf(irisRows(10, 13), 0), Penalty{Rho: 0.01}, math.NaN(), true, []entry{
			{1, 1, 24.42244057}, {2, 2, 24.351841681}, {3, 3, 153.103448276}, {4, 4, 462.5},
			{1, 2, -16.83168}, {2, 3, -6.2068966}, {2, 4, -12.5}}},
		{"Mazumder-Hastie diagonal", covarianceOf(mazumderHastie, 1), Penalty{Rho: 0.004, Diagonal: true}, -14.8193943150, true, []entry{
			{1, 1, 77.84263306}, {2, 2, 106.24853858}, {3, 3, 89.46697728}, {4, 4, 156.29757362}, {5, 5, 159.49744842},
			{1, 2, 41.99867856}, {1, 3, -44.75152606}, {1, 4, -32.34140356}, {1, 5, -31.72396767},
			{2, 3, 28.49964236}, {3, 4, -12.48356239}, {3, 5, -11.4595776}}},
		{"Mazumder-Hastie", covarianceOf(mazumderHastie, 1), Penalty{Rho: 0.004}, -18.4554667947, false, nil},
	}
	for _, c := range cases {
		for name, s := range certified(Settings{Penalty: c.penalty, Gap: 1e-13}) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				est := mustSolve(t, s, c.s)
				// The references are printed to ten digits.
				if d := math.Abs(est.Objective - c.objective); d > 1e-9 {
					t.Errorf("objective %.12f, want %.12f", est.Objective, c.objective)
				}
				d := c.s.Len()
				want := map[[2]int]float64{}
				for _, e := range c.entries {
					want[[2]int{e.i - 1, e.j - 1}] = e.v
				}
				for i := range d {
					for j := i; j < d; j++ {
						v, listed := want[[2]int{i, j}]
						got := est.Precision.At(i, j)
						if listed && math.Abs(got-v) > slack(est, i, j)+1e-8*math.Abs(v)+1e-8 {
							t.Errorf("Θ%d%d = %.10g, want %.10g", i+1, j+1, got, v)
						}
						if !listed && c.complete && got != 0 {
							t.Errorf("Θ%d%d = %.10g, want 0", i+1, j+1, got)
						}
					}
				}
			})
		}
	}
}

// TestMazumderHastieSpectrum checks what is known of the solution whose
// entries were not published.
func TestMazumderHastieSpectrum(t *testing.T) {
	s := covarianceOf(mazumderHastie, 1)
	for name, sv := range certified(Settings{Penalty: Penalty{Rho: 0.004}, Gap: 1e-13}) {
		est := mustSolve(t, sv, s)
		values := make([]float64, 5)
		if err := dense.NewWorkspace(dense.Gonum{}, 5).Eigen(est.Precision, values, make([]float64, 25)); err != nil {
			t.Fatal(err)
		}
		if math.Abs(values[0]-0.918174) > 1e-6 || math.Abs(values[4]-552.5685) > 1e-3 {
			t.Errorf("%s: eigenvalues from %.6f to %.4f, want 0.918174 to 552.5685", name, values[0], values[4])
		}
		if n := est.Edges(); n != 7 {
			t.Errorf("%s: %d edges, want 7", name, n)
		}
	}
}

// TestIrisCovariance checks the published W = Θ⁻¹ of iris at ρ = 1.
func TestIrisCovariance(t *testing.T) {
	want := map[[2]int]float64{{0, 0}: 0.68112222, {1, 1}: 0.18871289, {2, 2}: 3.09550267, {3, 3}: 0.57713289,
		{0, 2}: 0.26582, {2, 3}: 0.286972, {0, 3}: 0.0246431372}
	for name, sv := range certified(Settings{Penalty: Penalty{Rho: 1}, Gap: 1e-13}) {
		est := mustSolve(t, sv, covarianceOf(irisRows(0, 150), 0))
		w := dense.NewSym(4, nil)
		dense.NewWorkspace(dense.Gonum{}, 4).Inverse(w, est.Precision)
		for at, v := range want {
			if got := w.At(at[0], at[1]); math.Abs(got-v) > 1e-6 {
				t.Errorf("%s: W%d%d = %.8f, want %.8f", name, at[0]+1, at[1]+1, got, v)
			}
		}
	}
}

func mustSolve(t *testing.T, sv solver.Solver, s *dense.Sym) *solver.Estimate {
	t.Helper()
	est, err := sv.Solve(t.Context(), solver.Problem{S: s})
	if err != nil {
		t.Fatal(err)
	}
	if est.Status != solver.Converged {
		t.Errorf("status %v after %d iterations, relative gap %.3g", est.Status, est.Iterations, est.RelativeGap())
	}
	return est
}

// fixture reads a file of testdata: solutions and iterates by independent
// implementations. The note in each file says how they were computed.
func fixture(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// slack is how far entry (i, j) can be from the optimum at the estimate's
// gap g, doubled for the reference's own: f(Θ) − f* ≥ ½‖Θ^-½·Δ·Θ^-½‖² to
// second order, so that |Δij| ≤ √(2g·Θii·Θjj). The objective's rounding counts
// as gap.
func slack(est *solver.Estimate, i, j int) float64 {
	g := est.DualityGap + 1e-14*(float64(est.Precision.Len())+math.Abs(est.Objective))
	return 2 * math.Sqrt(2*g*est.Precision.At(i, i)*est.Precision.At(j, j))
}

func symOf(rows [][]float64) *dense.Sym {
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return dense.NewSym(len(rows), flat)
}

func maxDifference(a, b *dense.Sym) float64 {
	var m float64
	for i, v := range a.Raw() {
		m = math.Max(m, math.Abs(v-b.Raw()[i]))
	}
	return m
}

func TestGlassoFixtures(t *testing.T) {
	var file struct {
		Cases []struct {
			D, M      int
			S         [][]float64
			Solutions []struct {
				Rho       float64 `json:"rho"`
				Diagonal  bool    `json:"penalize_diagonal"`
				Objective float64 `json:"objective"`
				Edges     int     `json:"nnz_offdiag"`
				Theta     [][]float64
			}
		}
	}
	fixture(t, "glasso_fixtures.json", &file)
	for _, c := range file.Cases {
		for _, want := range c.Solutions {
			for name, sv := range certified(Settings{Penalty: Penalty{Rho: want.Rho, Diagonal: want.Diagonal}, Gap: 1e-12}) {
				t.Run(fmt.Sprintf("d=%d/rho=%g/diagonal=%t/%s", c.D, want.Rho, want.Diagonal, name), func(t *testing.T) {
					est := mustSolve(t, sv, symOf(c.S))
					if d := math.Abs(est.Objective - want.Objective); d > 1e-10 {
						t.Errorf("objective off by %.3g", d)
					}
					theta := symOf(want.Theta)
					for i := range c.D {
						for j := range c.D {
							if d := math.Abs(est.Precision.At(i, j) - theta.At(i, j)); d > slack(est, i, j) {
								t.Errorf("Θ%d%d off by %.3g", i+1, j+1, d)
							}
						}
					}
					if 2*est.Edges() != want.Edges {
						t.Errorf("%d non-zeros off the diagonal, want %d", 2*est.Edges(), want.Edges)
					}
				})
			}
		}
	}
}

func TestTextbookFixtures(t *testing.T) {
	type iterate struct {
		K        int
		Theta, Z [][]float64
		F        float64
	}
	var file struct {
		Cases []struct {
			D           int
			Rho, Lam, T float64
			S           [][]float64
			AM, ADMM    []iterate
		}
	}
	fixture(t, "am_admm_fixtures.json", &file)
	for _, c := range file.Cases {
		check := func(name string, it iterate, est *solver.Estimate, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if est.Iterations != it.K {
				t.Fatalf("d=%d %s: stopped after %d iterations (%v), want %d", c.D, name, est.Iterations, est.Status, it.K)
			}
			if d := maxDifference(est.Precision, symOf(it.Theta)); d > 1e-10 {
				t.Errorf("d=%d %s k=%d: Θ off by %.3g", c.D, name, it.K, d)
			}
			if d := maxDifference(est.Support, symOf(it.Z)); d > 1e-10 {
				t.Errorf("d=%d %s k=%d: Z off by %.3g", c.D, name, it.K, d)
			}
		}
		// A gap below every rounding: k iterations.
		set := Settings{Penalty: Penalty{Rho: c.Rho, Diagonal: true}, Gap: math.SmallestNonzeroFloat64}
		for _, it := range c.AM {
			set.IterationLimit = it.K
			est, err := AM{Settings: set, Lambda: c.Lam, Offset: c.T}.Solve(t.Context(), solver.Problem{S: symOf(c.S)})
			check("AM", it, est, err)
			if d := math.Abs(est.Objective - it.F); d > 1e-10 {
				t.Errorf("d=%d AM k=%d: objective %.15g, want %.15g", c.D, it.K, est.Objective, it.F)
			}
		}
		for _, it := range c.ADMM {
			set.IterationLimit = it.K
			est, err := ADMM{Settings: set, Lambda: c.Lam, Offset: c.T}.Solve(t.Context(), solver.Problem{S: symOf(c.S)})
			check("ADMM", it, est, err)
		}
	}
}
