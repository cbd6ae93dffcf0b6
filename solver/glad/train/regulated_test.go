package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// regulatedTables are tables of a few regulators that follow each other, and targets of
// one or two of them.
func regulatedTables(t testing.TB, n int) []Regulated {
	t.Helper()
	const d, p, samples = 14, 5, 40
	rng := rand.New(rand.NewPCG(9, 9))
	var tables []Regulated
	for range n {
		e := Regulated{Samples: samples, Regulators: []int{1, 3, 4, 8, 12}, Edge: make([]bool, p*d)}
		var sources [d][]int
		for j := range d {
			if k := rng.IntN(p + 1); k < p && e.Regulators[k] < j {
				sources[j] = append(sources[j], e.Regulators[k])
				e.Edge[k*d+j] = true
			}
		}
		if !slices.Contains(e.Edge, true) {
			e.Edge[d], sources[0] = true, nil
		}
		rows := make([]float64, samples*d)
		for k := range samples {
			row := rows[k*d : (k+1)*d]
			for j := range row {
				row[j] = rng.NormFloat64()
				for _, i := range sources[j] {
					row[j] += 0.8 * row[i]
				}
			}
		}
		r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		e.R = r.S
		tables = append(tables, e)
	}
	return tables
}

// The gradient is that of finite differences, with regulators and without.
func TestRegulatedGradient(t *testing.T) {
	tables := regulatedTables(t, 3)
	t.Run("directed", func(t *testing.T) { gradientIsRight(t, tables) })
	for i, e := range tables {
		tables[i] = undirected(e)
	}
	t.Run("undirected", func(t *testing.T) { gradientIsRight(t, tables) })
}

// undirected is a table whose regulators are not known.
func undirected(e Regulated) Regulated {
	d := e.R.Len()
	edges := make([]bool, d*d)
	e.Pairs(func(at, i, j int) {
		if e.Edge[at] {
			edges[i*d+j], edges[j*d+i] = true, true
		}
	})
	e.Regulators, e.Edge = nil, edges
	return e
}

func gradientIsRight(t *testing.T, tables []Regulated) {
	t.Helper()
	start := RegulatedStart(4)
	r := &regulatedRun{settings: RegulatedSettings(4).resolved(), training: tables}
	loss := func(values []float64) (gradient []float64, loss float64) {
		g, err := glad.NewDifferentiator(start, glad.CPU{Engine: dense.Gonum{}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		gradient, loss, err = r.gradient(t.Context(), g, tables, values)
		if err != nil {
			t.Fatal(err)
		}
		return gradient, loss
	}
	values := append(start.Values(), 1.3, -0.7)
	gradient, _ := loss(values)
	var largest float64
	for i, v := range values {
		const step = 1e-5
		values[i] = v + step
		_, up := loss(values)
		values[i] = v - step
		_, down := loss(values)
		values[i] = v
		want := (up - down) / (2 * step)
		largest = math.Max(largest, math.Abs(want))
		if math.Abs(gradient[i]-want) > 1e-7+1e-5*math.Abs(want) {
			t.Errorf("derivative %d of %d is %v, by finite differences %v", i, len(values), gradient[i], want)
		}
	}
	if largest < 1e-3 {
		t.Errorf("no derivative is larger than %v", largest)
	}
}

// Training finds weights that judge the validation tables better, and the same again.
func TestRunRegulated(t *testing.T) {
	tables := regulatedTables(t, 8)
	figure := RegulatedFigure{Name: "difference", Compute: func(e Regulated, b []float64) (float64, error) {
		edge, other := e.weights()
		var sum float64
		for i, is := range e.Edge {
			if is {
				sum += edge * math.Abs(b[i])
			} else {
				sum -= other * math.Abs(b[i])
			}
		}
		return sum, nil
	}}
	s := RegulatedSettings(2)
	s.Steps = 30
	s.Backend = glad.CPU{Engine: dense.Gonum{}}
	var first, last float64
	s.Progress = func(p Progress) {
		if p.Step == 1 {
			first = p.Loss
		}
		last = p.Loss
	}
	one, err := RunRegulated(t.Context(), RegulatedStart(2), tables[:5], tables[5:], figure, s)
	if err != nil {
		t.Fatal(err)
	}
	if !(last < first) || !(one.Validation > 0) || !one.Model.Card.Trained || one.Step < 1 {
		t.Errorf("loss from %v to %v, %+v", first, last, one)
	}
	two, err := RunRegulated(t.Context(), RegulatedStart(2), tables[:5], tables[5:], figure, s)
	if err != nil || !slices.Equal(one.Model.Values(), two.Model.Values()) {
		t.Errorf("%v, and other weights", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := RunRegulated(ctx, RegulatedStart(2), tables, tables, figure, s); err == nil {
		t.Error("a training that was cancelled has ended")
	}
}
