package glasso

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// blockOf is a problem of one component, as a method gets it.
func blockOf(s *dense.Sym, rho float64, engine dense.Engine) *block {
	n := s.Len()
	idx, scale := make([]int, n), make([]float64, n)
	for i := range idx {
		idx[i], scale[i] = i, 1
	}
	return &block{s: s, pen: newPenalties(Penalty{Rho: rho}, idx, scale), target: 1e-12, limit: 1000,
		work: dense.NewWorkspace(engine, n), record: func(int, float64, float64) {}}
}

// The gap that needs no factorisation of W is never below the gap by its definition,
// and not far above it when it is small.
func TestGapWithoutFactorisation(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	seen := 0
	for range 30 {
		d := 2 + rng.IntN(40)
		b := blockOf(randomCovariance(rng, d, 3+rng.IntN(60)), 0.05+0.3*rng.Float64(), dense.Gonum{})
		st := newBCDState(b)
		st.begin(t.Context())
		st.effort.tolerance = 1e-4
		for sweep := range 6 {
			st.sweep(t.Context())
			theta, w := dense.NewSym(d, nil), dense.NewSym(d, nil)
			st.theta.symmetrise(theta, st.columns, st.weight)
			same := dense.NewSym(d, nil)
			if st.theta.to(same); maxDifference(theta, same) != 0 {
				t.Fatal("the sparse Θ is another one")
			}
			for i := range d {
				copy(w.Row(i), st.row(i))
			}
			if theta.Asymmetry() != 0 || w.Asymmetry() != 0 {
				t.Fatal("a matrix is not symmetric")
			}
			scratch := make([]float64, d*d)
			logdet, ok := b.work.LogDet(theta, scratch)
			if !ok {
				continue
			}
			bound, least := st.gap(st.theta)
			logdetW, ok := b.work.LogDet(w, scratch)
			if math.IsInf(bound, 1) {
				continue
			}
			if !ok {
				t.Fatalf("the gap is %v, with a W that is not positive definite", bound)
			}
			want := linear(b, theta) - logdet - (logdetW + float64(d))
			if l := st.theta.linear(b); math.Abs(l-linear(b, theta)) > 1e-12*math.Abs(l) {
				t.Errorf("tr SΘ + ρ|Θ| = %v, want %v", l, linear(b, theta))
			}
			rounding := 1e-13 * (float64(d) + math.Abs(logdet))
			if bound < want-rounding {
				t.Errorf("sweep %d: gap %v, want %v or more", sweep, bound, want)
			}
			if least > want+rounding {
				t.Errorf("sweep %d: gap of at least %v, want %v or less", sweep, least, want)
			}
			if st.spread < 0.3 && bound > 1.7*want+rounding {
				t.Errorf("sweep %d: gap %v, want some %v", sweep, bound, want)
			}
			seen++
		}
	}
	if seen < 50 {
		t.Errorf("%d cases, too few", seen)
	}
}

// Interim certificates change nothing else, and are true.
func TestInterimCertificates(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(17, 2)), 60, 40)
	run := func(look bool) *bcdState {
		st := newBCDState(blockOf(s, 0.1, dense.Gonum{}))
		st.begin(t.Context())
		st.effort.tolerance = 1e-3
		for sweep := 1; sweep <= 6; sweep++ {
			st.sweep(t.Context())
			if look {
				st.look(t.Context(), sweep)
			}
		}
		return st
	}
	plain, looked := run(false), run(true)
	if math.IsInf(looked.between.gap(), 0) {
		t.Error("no interim certificate")
	}
	between := looked.between
	for _, st := range []*bcdState{plain, looked} {
		st.check(t.Context())
	}
	if plain.c.primal != looked.c.primal || plain.c.dual != looked.c.dual {
		t.Errorf("objectives %v and %v, without interim certificates %v and %v", looked.c.primal, looked.c.dual, plain.c.primal, plain.c.dual)
	}
	if between.dual > plain.c.primal || between.primal < plain.c.dual {
		t.Errorf("interim objectives %v and %v contradict %v and %v", between.primal, between.dual, plain.c.primal, plain.c.dual)
	}
	looked.c.dual = math.Inf(-1) // as if there had been no other
	out := looked.outcome(solver.Interrupted, 6)
	if got := linear(looked.b, out.theta); math.Abs(got-between.theta.linear(looked.b)) > 1e-12*got || out.objective != between.primal {
		t.Errorf("the interrupted estimate is not the interim one")
	}
	if _, ok := looked.b.work.LogDet(out.theta, make([]float64, 60*60)); !ok {
		t.Error("Θ is not positive definite")
	}
}

// Columns that are improved side by side give the same bits on any number of threads.
func TestThreadsGiveTheSameBits(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(17, 3)), bcdShared+5, 60)
	var first *solver.Estimate
	for _, threads := range []int{1, 2, 3} {
		set := Settings{Penalty: Penalty{Rho: 0.45}, Engine: dense.WithThreads(dense.Gonum{}, threads)}
		est := mustSolve(t, BCD{set}, s)
		if first == nil {
			first = est
		}
		if maxDifference(est.Precision, first.Precision) != 0 || est.DualityGap != first.DualityGap || est.Iterations != first.Iterations {
			t.Errorf("%d threads change the result", threads)
		}
	}
	if len(components(s, Penalty{Rho: 0.45})[0]) < bcdShared {
		t.Error("no component is large enough")
	}
}

func TestTraceOfSquare(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 4))
	for _, n := range []int{1, 2, 15, 16, 17, 50} {
		e := make([]float64, n*n)
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		var want float64
		for i := range n {
			for j := range n {
				want += e[i*n+j] * e[j*n+i]
			}
		}
		if got := traceOfSquare(e, n); math.Abs(got-want) > 1e-12*float64(n*n) {
			t.Errorf("n = %d: %v, want %v", n, got, want)
		}
	}
}

// A regression that costs W its definiteness is repaired.
func TestIndefiniteDualIsRepaired(t *testing.T) {
	s := randomCovariance(rand.New(rand.NewPCG(17, 5)), 20, 30)
	b := blockOf(s, 0.2, dense.Gonum{})
	st := newBCDState(b)
	st.begin(t.Context())
	for i := range 20 {
		for j := range 20 {
			if i != j { // a corner of the box
				st.row(i)[j] = s.At(i, j) + math.Copysign(0.2, float64((i+j)%3-1))
			}
		}
	}
	st.broken = true
	st.factorised(context.Background())
	w := dense.NewSym(20, nil)
	for i := range 20 {
		copy(w.Row(i), st.row(i))
	}
	logdet, ok := b.work.LogDet(w, make([]float64, 400))
	if !ok || st.broken || math.Abs(st.c.dual-logdet-20) > 1e-12 {
		t.Errorf("positive definite: %t, dual objective %v, want %v", ok, st.c.dual, logdet+20)
	}
	for i, v := range w.Raw() {
		if math.Abs(v-s.Raw()[i]) > 0.2*(1+1e-12) && i%21 != 0 {
			t.Fatalf("entry %d leaves the box", i)
		}
	}
}

// Penalties far apart on a singular S: steps beyond the solutions of the regressions went in
// a circle here.
func TestBCDOfPenaltiesFarApart(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		d, m := 2+rng.IntN(8), 2+rng.IntN(5)
		rows := make([]float64, m*d)
		for i := range rows {
			rows[i] = rng.NormFloat64()
		}
		s, penalty := dense.NewSym(d, nil), dense.NewSym(d, nil)
		dense.NewWorkspace(dense.Gonum{}, d).Gram(s, 1/float64(m), rows, m, 0)
		small := 1e-3 * s.Trace() / float64(d)
		for i := range d {
			for j := range i {
				rho := small
				if rng.IntN(2) == 0 {
					rho = 2.1 * math.Sqrt(s.At(i, i)) * math.Sqrt(s.At(j, j))
				}
				penalty.Set(i, j, rho)
			}
		}
		est, err := BCD{Settings: Settings{Penalty: Penalty{Matrix: penalty}, Gap: 1e-9}}.Solve(t.Context(), solver.Problem{S: s})
		if err != nil {
			t.Fatal(err)
		}
		// Rounding may keep the last digits of the gap.
		if est.Status != solver.Converged && !(est.RelativeGap() <= 1e-7) {
			t.Errorf("seed %d, d = %d, M = %d: %v, gap %v", seed, d, m, est.Status, est.RelativeGap())
		}
	}
}
