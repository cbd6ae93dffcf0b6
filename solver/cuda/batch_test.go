//go:build cuda

package cuda

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

func model(t testing.TB, name string) *glad.Model {
	t.Helper()
	m, err := glad.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Problems of several dimensions go through together, each with the result that it has
// alone.
func TestBatches(t *testing.T) {
	b := opened(t)
	r := rand.New(rand.NewPCG(5, 5))
	var problems []solver.Problem
	for i := range 14 {
		problems = append(problems, sampled(r, []int{20, 33, 20, 7}[i%4], 60+i))
	}
	for _, name := range glad.BuiltinNames() {
		m := model(t, name)
		for _, how := range []method{automatic, byEigen} {
			b.method = how
			want, err := glad.Solver{Model: m}.SolveAll(t.Context(), problems)
			if err != nil {
				t.Fatal(err)
			}
			got, err := glad.Solver{Model: m, Backend: b}.SolveAll(t.Context(), problems)
			if err != nil {
				t.Fatal(err)
			}
			for i := range problems {
				if e, f := distance(got[i].Precision, want[i].Precision), distance(got[i].Support, want[i].Support); !(e < tolerance && f < tolerance) {
					t.Errorf("%s, problem %d: Θ is off by %.2g, Z by %.2g", name, i, e, f)
				}
			}
		}
	}
}

// Where a problem fails the others do not, and it keeps its last pair.
func TestFailureInABatch(t *testing.T) {
	b := opened(t)
	r := rand.New(rand.NewPCG(6, 6))
	// A step of λ to nothing leaves float64 after some cells, for large S alone.
	m := *model(t, "er-d100-m100-literal")
	m.Scaling = glad.Scaling{Mode: glad.ScalingNone}
	var problems []solver.Problem
	for i := range 5 {
		p := sampled(r, 12, 40)
		if i == 2 {
			for k := range p.S.Raw() {
				p.S.Raw()[k] *= 1e160
			}
		}
		problems = append(problems, p)
	}
	for _, p := range problems {
		want, wantErr := glad.Solver{Model: &m}.Solve(t.Context(), p)
		got, err := glad.Solver{Model: &m, Backend: b}.Solve(t.Context(), p)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err == nil && (got.Status != want.Status || got.Iterations != want.Iterations || !(distance(got.Precision, want.Precision) < tolerance)) {
			t.Errorf("%v after %d, want %v after %d", got.Status, got.Iterations, want.Status, want.Iterations)
		}
	}
	want, wantErr := glad.Solver{Model: &m}.SolveAll(t.Context(), problems)
	got, err := glad.Solver{Model: &m, Backend: b}.SolveAll(t.Context(), problems)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, want %v", err, wantErr)
	}
	for i := range got {
		if got[i].Status != want[i].Status || !(distance(got[i].Precision, want[i].Precision) < tolerance) {
			t.Errorf("problem %d: %v, want %v", i, got[i].Status, want[i].Status)
		}
	}
}

// A singular covariance, one with tiny and one with huge units, and one variable that
// hardly varies.
func TestHardProblems(t *testing.T) {
	b := opened(t)
	r := rand.New(rand.NewPCG(7, 7))
	few := sampled(r, 40, 5)
	small, large, uneven := sampled(r, 20, 50), sampled(r, 20, 50), sampled(r, 20, 50)
	for i := range small.S.Raw() {
		small.S.Raw()[i] *= 1e-12
		large.S.Raw()[i] *= 1e12
	}
	for i := range 20 {
		uneven.S.Set(3, i, uneven.S.At(3, i)*1e-6)
	}
	unknown := sampled(r, 30, 100)
	unknown.Samples = 0
	for _, name := range []string{"general", "er-d100-m100-literal", "er-d100-m20-recipe"} {
		for i, p := range []solver.Problem{few, small, large, uneven, unknown} {
			for _, how := range []method{byEigen, byPolar, automatic} {
				b.method = how
				want, wantErr := glad.Solver{Model: model(t, name)}.Solve(t.Context(), p)
				got, err := glad.Solver{Model: model(t, name), Backend: b}.Solve(t.Context(), p)
				if err != nil || wantErr != nil {
					if (err == nil) != (wantErr == nil) {
						t.Errorf("%s, problem %d: error %v, want %v", name, i, err, wantErr)
					}
					continue
				}
				if e, f := distance(got.Precision, want.Precision), distance(got.Support, want.Support); !(e < 1e-8 && f < 1e-8) {
					t.Errorf("%s, problem %d, method %d: Θ is off by %.2g, Z by %.2g", name, i, how, e, f)
				}
				if _, ok := dense.NewWorkspace(dense.Gonum{}, p.S.Len()).LogDet(got.Precision, make([]float64, p.S.Len()*p.S.Len())); !ok {
					t.Errorf("%s, problem %d, method %d: Θ is not positive definite", name, i, how)
				}
			}
		}
	}
}

// What is cancelled ends soon, with the last complete pair, and the backend goes on.
func TestCancellation(t *testing.T) {
	b := opened(t)
	p := sampled(rand.New(rand.NewPCG(8, 8)), 300, 400)
	for i := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*40)*time.Millisecond)
		began := time.Now()
		est, err := glad.Solver{Model: model(t, "er-d100-m100-literal"), Backend: b}.Solve(ctx, p)
		if late := time.Since(began) - time.Duration(i*40)*time.Millisecond; ctx.Err() != nil && late > 500*time.Millisecond {
			t.Errorf("it ends %v after its context", late)
		}
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if err == nil && est.Status == solver.Interrupted && !est.Precision.Finite() {
			t.Error("the interrupted estimate is not finite")
		}
	}
	if _, err := (glad.Solver{Backend: b}).Solve(t.Context(), sampled(rand.New(rand.NewPCG(9, 9)), 20, 40)); err != nil {
		t.Error(err)
	}
}
