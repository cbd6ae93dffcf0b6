package adapt

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

// star draws m samples of stars of five variables, with a mean.
func star(d, m int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([]float64, m*d)
	for i := range m {
		for j := range d {
			rows[i*d+j] = 3 + rng.NormFloat64()
			if j%5 != 0 {
				rows[i*d+j] += 0.6 * rows[i*d+j-j%5]
			}
		}
	}
	return rows
}

func problem(t *testing.T, rows []float64, d int, method covariance.Method) solver.Problem {
	t.Helper()
	r, err := covariance.Estimate(t.Context(), covariance.NewTable(slices.Clone(rows), d), d, covariance.Settings{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return solver.Problem{S: r.S, Samples: r.Samples}
}

func builtin(t *testing.T, name string) *Set {
	t.Helper()
	s, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkMean fails t unless est is the weighted mean of the models' estimates, and positive
// definite.
func checkMean(t *testing.T, s Solver, p solver.Problem, est *solver.Estimate, c Choice) {
	t.Helper()
	var sum float64
	for _, v := range c.Weights {
		if sum += v; v < 0 {
			t.Errorf("weights %v", c.Weights)
		}
	}
	if math.Abs(sum-1) > 1e-12 || len(c.Weights) != len(s.Set.Models) {
		t.Errorf("weights %v have the sum %v", c.Weights, sum)
	}
	d := p.S.Len()
	mean := dense.NewSym(d, nil)
	w := &work{Solver: s, ctx: t.Context()}
	for k, m := range s.Set.Models {
		all, err := w.solve(m, []solver.Problem{p})
		if err != nil {
			t.Fatal(err)
		}
		add(mean, c.Weights[k], all[0].Precision)
	}
	for i, v := range mean.Raw() {
		if math.Abs(est.Precision.Raw()[i]-v) > 1e-12*(1+math.Abs(v)) {
			t.Fatalf("entry %d is %v, the mean %v", i, est.Precision.Raw()[i], v)
		}
	}
	if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(est.Precision, make([]float64, d*d)); !ok {
		t.Error("the estimate is not positive definite")
	}
	if est.Status != solver.Completed || est.Iterations == 0 {
		t.Errorf("status %v, %d iterations", est.Status, est.Iterations)
	}
}

// Samples decide where there are three times as many as variables, and the gate elsewhere.
func TestAdapt(t *testing.T) {
	const d = 15
	for _, name := range []string{Standardised, EqualScales} {
		for m, by := range map[int]string{20: ByGate, 90: ByLikelihood} {
			rows := star(d, m, 7)
			method := covariance.Pearson
			if name == EqualScales {
				method = covariance.Covariance
			}
			p := problem(t, rows, d, method)
			s := Solver{Set: builtin(t, name), Samples: rows, Standardised: name == Standardised}
			last := 0.0
			s.Report = func(done float64, what string) {
				if done < last || done > 1 || what == "" {
					t.Errorf("%v after %v: %q", done, last, what)
				}
				last = done
			}
			est, c, err := s.Adapt(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if c.By != by || last != 1 || (c.Expected != nil) != (by == ByGate) {
				t.Errorf("%s, M = %d: %+v, reported %v", name, m, c, last)
			}
			if by == ByLikelihood && !(c.Gap >= 0 && c.Gap <= likelihoodGap) {
				t.Errorf("gap %v", c.Gap)
			}
			checkMean(t, s, p, est, c)
			// Without the samples the gate decides.
			s.Samples, last = nil, 0
			if est, c, err = s.Adapt(t.Context(), p); err != nil || c.By != ByGate {
				t.Fatalf("%v, %+v", err, c)
			}
			checkMean(t, s, p, est, c)
		}
	}
}

// The same bits on one thread as on several.
func TestAdaptIsDeterministic(t *testing.T) {
	const d, m = 15, 90
	rows := star(d, m, 9)
	p := problem(t, rows, d, covariance.Pearson)
	var want *solver.Estimate
	for _, workers := range []int{1, 2, 5} {
		s := Solver{Set: builtin(t, Standardised), Samples: rows, Standardised: true, Backend: glad.CPU{Workers: workers}}
		est, _, err := s.Adapt(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = est
		} else if !slices.Equal(est.Precision.Raw(), want.Precision.Raw()) || !slices.Equal(est.Support.Raw(), want.Support.Raw()) {
			t.Errorf("%d workers give other bits", workers)
		}
	}
}

func TestAdaptIsCancelled(t *testing.T) {
	const d, m = 60, 240
	rows := star(d, m, 11)
	p := problem(t, rows, d, covariance.Pearson)
	for _, after := range []float64{0, 0.2, 0.6} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := Solver{Set: builtin(t, Standardised), Samples: rows, Standardised: true}
		var cancelled time.Time
		s.Report = func(done float64, _ string) {
			if done >= after && cancelled.IsZero() {
				cancelled = time.Now()
				cancel()
			}
		}
		est, c, err := s.Adapt(ctx, p)
		if err != nil || est.Status != solver.Interrupted || c.Weights[0] != 1 {
			t.Fatalf("%v, %+v, %+v", err, est, c)
		}
		if took := time.Since(cancelled); took > 2*time.Second { // a tenth on a quiet machine
			t.Errorf("cancelled at %v: it took %v", after, took)
		}
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(est.Precision, make([]float64, d*d)); !ok {
			t.Error("the iterate is not positive definite")
		}
	}
}

// The weights are the best there are: none of a grid over the simplex has a larger
// likelihood, and the gap bounds by how much others could.
func TestStack(t *testing.T) {
	const d = 6
	rng := rand.New(rand.NewPCG(3, 3))
	definite := func() *dense.Sym {
		x := make([]float64, 3*d*d)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		a := dense.NewSym(d, nil)
		dense.NewWorkspace(dense.Gonum{}, d).Gram(a, 1/float64(3*d), x, 3*d, 0)
		return a
	}
	for range 20 {
		w := &work{Solver: Solver{Set: &Set{Models: make([]*glad.Model, 3)}, Engine: dense.Gonum{}}, ctx: t.Context()}
		var parts []fold
		for range 2 {
			parts = append(parts, fold{share: 0.5, test: definite(), models: []*dense.Sym{definite(), definite(), definite()}})
		}
		weights, gap, err := w.stack(parts, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		best, _, _, err := w.derivatives(parts, weights)
		if err != nil {
			t.Fatal(err)
		}
		if !(gap >= 0 && gap <= 1e-6) {
			t.Errorf("gap %v", gap)
		}
		const steps = 20
		for i := range steps + 1 {
			for j := range steps + 1 - i {
				other := []float64{float64(i) / steps, float64(j) / steps, float64(steps-i-j) / steps}
				v, _, _, err := w.derivatives(parts, other)
				if err != nil {
					t.Fatal(err)
				}
				if v > best+gap+1e-12 {
					t.Fatalf("%v has %v, more than %v of %v", other, v, best, weights)
				}
			}
		}
		// The gradient and the Hessian are those of the value.
		_, g, h, _ := w.derivatives(parts, []float64{0.5, 0.3, 0.2})
		const e = 1e-4
		for k := range 3 {
			at := func(step float64) (float64, []float64) {
				x := []float64{0.5, 0.3, 0.2}
				x[k] += step
				v, g, _, err := w.derivatives(parts, x)
				if err != nil {
					t.Fatal(err)
				}
				return v, g
			}
			up, gUp := at(e)
			down, gDown := at(-e)
			if v := (up - down) / (2 * e); math.Abs(v-g[k]) > 1e-5*(1+math.Abs(v)) {
				t.Errorf("derivative %d is %v, not %v", k, v, g[k])
			}
			for l := range 3 {
				if v := -(gUp[l] - gDown[l]) / (2 * e); math.Abs(v-h[k][l]) > 1e-4*(1+math.Abs(v)) {
					t.Errorf("second derivative %d, %d is %v, not %v", k, l, v, h[k][l])
				}
			}
		}
	}
}

// On statistics unlike any that it knows the gate leaves nearly everything to the general
// model.
func TestGateOfTheUnknown(t *testing.T) {
	for _, name := range []string{Standardised, EqualScales} {
		g := builtin(t, name).Gate
		p := g.fit()
		far := slices.Clone(g.Mean)
		for i := range far {
			far[i] += 30 * g.Deviation[i]
		}
		expected, weights := p.predict(far)
		if weights[0] < 0.9 || math.Abs(expected[1]-g.Prior) > 1e-6 {
			t.Errorf("%s: expects %v, weights %v", name, expected, weights)
		}
	}
}

// A process that knows a table without noise repeats it: Rasmussen and Williams, Eq. 2.25.
func TestGateRepeats(t *testing.T) {
	n := len(statisticNames)
	g := &Gate{Models: []string{"a", "b", "c"}, Mean: make([]float64, n), Deviation: make([]float64, n),
		Length: 1, Noise: 1e-9, Prior: 1, Caution: 1, Temperature: 1}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		g.Deviation[i] = 1
	}
	for range 5 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		g.Tables, g.Excess = append(g.Tables, x), append(g.Excess, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	for i, x := range g.Tables {
		expected, weights := g.fit().predict(x)
		for k, v := range g.Excess[i] {
			if math.Abs(expected[k+1]-v) > 1e-6 {
				t.Errorf("table %d: expects %v of %v", i, expected, g.Excess[i])
			}
		}
		for k := range 2 {
			if ratio, want := weights[k+1]/weights[0], math.Exp(-g.Excess[i][k]); weights[0] > 0 && weights[k+1] > 0 && math.Abs(ratio-want) > 1e-3*want {
				t.Errorf("weights %v, excess %v", weights, g.Excess[i])
			}
		}
	}
}

// Statistics depend neither on the order of the variables nor on a common unit.
func TestStatistics(t *testing.T) {
	const d, m = 12, 40
	rows := star(d, m, 5)
	rng := rand.New(rand.NewPCG(2, 2))
	order := rng.Perm(d)
	other := make([]float64, len(rows))
	for i := range m {
		for j, from := range order {
			other[i*d+j] = 7 * rows[i*d+from]
		}
	}
	var all [2][]float64
	for k, r := range [][]float64{rows, other} {
		p := problem(t, r, d, covariance.Covariance)
		est, err := glad.Solver{}.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if all[k], err = Statistics(t.Context(), p, est.Precision, dense.Gonum{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(all[0]) != len(statisticNames) {
		t.Fatalf("%d statistics, %d names", len(all[0]), len(statisticNames))
	}
	for i, v := range all[0] {
		if math.Abs(v-all[1][i]) > 1e-6*(1+math.Abs(v)) {
			t.Errorf("%s: %v and %v", statisticNames[i], v, all[1][i])
		}
	}
}

// A gate survives its file, and one for other models is refused.
func TestGateFile(t *testing.T) {
	s := builtin(t, Standardised)
	var file bytes.Buffer
	if err := s.Gate.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := modelfile.Read(&file, gateFormat(), readGate)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Models, s.Gate.Models) || back.Length != s.Gate.Length || len(back.Tables) != len(s.Gate.Tables) {
		t.Errorf("%+v", back)
	}
	if err := back.isFor(s.Models[1:]); err == nil {
		t.Error("a gate for other models is accepted")
	}
	back.Excess = back.Excess[1:]
	if err := back.Validate(); err == nil {
		t.Error("a gate that has lost a row is accepted")
	}
}

// FitGate finds that an expert is good where a statistic says so, and useless elsewhere.
func TestFitGate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	models := []*glad.Model{{Name: "general"}, {Name: "expert"}}
	var lessons []Lesson
	for i := range 60 {
		x := make([]float64, len(statisticNames))
		for j := range x {
			x[j] = 0.1 * rng.NormFloat64()
		}
		x[3] = float64(i%2) * 4
		error := math.Pow(10, 0.2*(1-2*float64(i%2))) // 2 dB worse or better
		lessons = append(lessons, Lesson{Family: "f" + string(rune('a'+i%3)), Statistics: x, Errors: [][]float64{{1, 0.9}, {0.9, error}}})
	}
	g, report, err := FitGate(t.Context(), models, lessons)
	if err != nil {
		t.Fatal(err)
	}
	if !(report.Gate < -0.8) || report.Tables != 60 || math.Abs(report.General) > 1e-9 || math.Abs(report.Best+1) > 1e-9 {
		t.Errorf("%+v", report)
	}
	for i := range 2 {
		_, weights := g.fit().predict(lessons[i].Statistics)
		if good := weights[1] > 0.9; good != (i == 1) {
			t.Errorf("table %d: weights %v", i, weights)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := FitGate(ctx, models, lessons); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, _, err := FitGate(t.Context(), models, lessons[:1]); err == nil {
		t.Error("a gate is fitted to one table")
	}
}
