package glasso

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/internal/published"
)

// BenchmarkBCD solves random graphs and two published tables to two gaps, certificate
// included. The tables are in the folder that GLADFLOW_DATA names. -cpu 1,2 sets threads.
func BenchmarkBCD(b *testing.B) {
	engine, err := dense.Open("auto")
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, s func(testing.TB) *dense.Sym, rho func(*dense.Sym) float64) {
		for _, gap := range []float64{1e-4, 1e-6} {
			b.Run(fmt.Sprintf("%s/gap=%.0e", name, gap), func(b *testing.B) {
				p := solver.Problem{S: s(b)}
				sv := BCD{Settings{Penalty: Penalty{Rho: rho(p.S)}, Gap: gap, Engine: engine}}
				var est *solver.Estimate
				for b.Loop() {
					if est, err = sv.Solve(b.Context(), p); err != nil || est.Status != solver.Converged {
						b.Fatal(err, est.Status)
					}
				}
				b.ReportMetric(float64(est.Iterations), "sweeps")
			})
		}
	}
	fixed := func(rho float64) func(*dense.Sym) float64 { return func(*dense.Sym) float64 { return rho } }
	run("random/d=100", func(testing.TB) *dense.Sym { return randomGraph(100, 500) }, fixed(0.03))
	for _, d := range []int{500, 1000, 2000} {
		run(fmt.Sprintf("random/d=%d", d), func(testing.TB) *dense.Sym { return randomGraph(d, d/2) },
			func(s *dense.Sym) float64 { return absoluteQuantile(s, 0.965) })
	}
	run("ER_692/rho=0.5", er692, fixed(0.5))
	for _, rho := range []float64{0.5, 0.3, 0.1} {
		run(fmt.Sprintf("ecoli/rho=%g", rho), ecoliCorrelation, fixed(rho))
	}
	// Ten penalties down to a tenth of the largest, each from the solution before.
	b.Run("ecoli/path", func(b *testing.B) {
		p := solver.Problem{S: ecoliCorrelation(b)}
		top := absoluteQuantile(p.S, math.Nextafter(1, 0))
		for b.Loop() {
			set := Settings{Gap: 1e-6, Engine: engine}
			for k := range 10 {
				set.Penalty.Rho = top * math.Pow(0.1, float64(k)/9)
				if set.Initial, err = (BCD{set}).Solve(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// randomGraph is the correlation of m samples whose precision matrix is a random graph of
// mean degree 5 with weights of ±0.2 to ±0.5, diagonally dominant.
func randomGraph(d, m int) *dense.Sym {
	rng := rand.New(rand.NewPCG(1, 17))
	theta := dense.NewSym(d, nil)
	for i := range d {
		for j := range i {
			if rng.Float64() < 5/float64(d-1) {
				theta.Set(i, j, math.Copysign(0.2+0.3*rng.Float64(), rng.Float64()-0.5))
			}
		}
	}
	for i := range d {
		sum := 0.1
		for _, v := range theta.Row(i) {
			sum += math.Abs(v)
		}
		theta.Set(i, i, sum)
	}
	w := dense.NewWorkspace(dense.Default(), d)
	factor := dense.NewSym(d, nil)
	w.Inverse(factor, theta)
	w.LogDet(factor, factor.Raw())
	for i := range d {
		clear(factor.Row(i)[:i])
	}
	z, x := make([]float64, m*d), make([]float64, m*d)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	w.Engine().Gemm(false, false, m, d, d, 1, z, d, factor.Raw(), d, 0, x, d)
	return correlationOf(x, m, d)
}

// correlationOf is the correlation of m samples of d variables, row-major, which it
// centres.
func correlationOf(x []float64, m, d int) *dense.Sym {
	scale := make([]float64, d)
	for j := range d {
		var mean float64
		for k := range m {
			mean += x[k*d+j] / float64(m)
		}
		for k := range m {
			x[k*d+j] -= mean
			scale[j] += x[k*d+j] * x[k*d+j]
		}
		scale[j] = 1 / math.Sqrt(scale[j])
	}
	s := dense.NewSym(d, nil)
	dense.NewWorkspace(dense.Default(), d).Gram(s, 1, x, m, 0)
	rescaled(s, scale, false)
	for i := range d {
		s.Set(i, i, 1)
	}
	return s
}

func absoluteQuantile(s *dense.Sym, q float64) float64 {
	var v []float64
	for i := range s.Len() {
		for _, x := range s.Row(i)[:i] {
			v = append(v, math.Abs(x))
		}
	}
	slices.Sort(v)
	return v[int(q*float64(len(v)))]
}

// ecoliCorrelation is that of 1,081 genes of E. coli under 301 conditions (DREAM5).
func ecoliCorrelation(tb testing.TB) *dense.Sym {
	x, d := published.Read(tb, "dream5/net3_expression_1081genes_301conditions.tsv.gz", 1)
	return correlationOf(x, len(x)/d, d)
}

// er692 is a correlation of 692 genes, which has been a test of solvers since QUIC.
func er692(tb testing.TB) *dense.Sym {
	x, d := published.Read(tb, "er692/ER_692_S.tsv.gz", 0)
	s := dense.NewSym(d, nil)
	for i := range d {
		for j := range i + 1 {
			s.Set(i, j, (x[i*d+j]+x[j*d+i])/2)
		}
	}
	return s
}
