package glad

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/dense"
)

// tableModel has all features of a table, which need M.
func tableModel() *Model {
	m := posteriorModel(rand.New(rand.NewPCG(1, 1)), 1, 1)
	m.Cells[0].Network.Inputs = []Feature{SampleRatio, Strength, Kurtosis, RowSpread, LargestContext}
	return m
}

func numbersOf(t Table) []float64 {
	return []float64{t.SampleRatio, t.Strength, t.Kurtosis, t.RowSpread, t.LargestContext}
}

// Two pairs of variables and one alone, in closed form.
func TestTable(t *testing.T) {
	const r = 0.6
	s := dense.Identity(5)
	s.Set(0, 1, r)
	s.Set(2, 3, -r)
	got := tableModel().plan(true).Prepare(s, 80).Shape.Table
	a := 3 * math.Log(1+r*r) // of four variables; that of the fifth is 0
	want := Table{
		SampleRatio: math.Log(16) / 2, Strength: math.Log(1 + 80*r*r/5), Kurtosis: math.Log(r*r*r*r/5/(3*r*r*r*r/25)) / 2,
		RowSpread: a * math.Sqrt(0.8*0.2), LargestContext: a * 0.2,
	}
	w := numbersOf(want)
	for i, v := range numbersOf(got) {
		if math.Abs(v-w[i]) > 1e-14 {
			t.Errorf("the table is %+v, want %+v", got, want)
			break
		}
	}
}

// They are finite whatever S is.
func TestTableIsFinite(t *testing.T) {
	ones := dense.NewSym(3, nil)
	for i := range ones.Raw() {
		ones.Raw()[i] = 1
	}
	large := dense.Identity(40)
	for i := range 40 {
		large.Set(i, i, math.Ldexp(1, 40*i-900))
	}
	p := tableModel().plan(true)
	for name, s := range map[string]*dense.Sym{"one variable": dense.Identity(1), "two": dense.Identity(2), "singular": ones, "huge scales": large} {
		for _, m := range []int{0, 1, 2, 1 << 40} {
			of := p.Prepare(s, m)
			for _, v := range numbersOf(of.Shape.Table) {
				if !finite(v) {
					t.Errorf("%s, M = %d: %+v", name, m, of.Shape.Table)
				}
			}
		}
	}
	// Without M there is the guess of ZScore.
	if of := p.Prepare(large, 0); of.RootSamples == 0 || of.Shape.Table.SampleRatio != math.Log(mostSampleRatio)/2 {
		t.Errorf("√M is guessed as %v for independent variables, the table is %+v", of.RootSamples, of.Shape.Table)
	}
}

// They do not depend on the units, signs and order of the variables.
func TestTableIsInvariant(t *testing.T) {
	p := tableModel().plan(true)
	rapid.Check(t, func(t *rapid.T) {
		a := drawCovariance(t, 30)
		d := a.Len()
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(d)
		f := rapid.SliceOfN(rapid.SampledFrom([]float64{-3, -0.1, 0.01, 1, 700}), d, d).Draw(t, "units")
		b := dense.NewSym(d, nil)
		for i := range d {
			for j := range i + 1 {
				b.Set(i, j, f[i]*f[j]*a.At(order[i], order[j]))
			}
		}
		got := numbersOf(p.Prepare(b, 50).Shape.Table)
		for i, v := range numbersOf(p.Prepare(a, 50).Shape.Table) {
			if math.Abs(got[i]-v) > 1e-9 {
				t.Errorf("number %d is %v, and was %v before", i, got[i], v)
			}
		}
	})
}
