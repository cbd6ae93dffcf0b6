package edges

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// The streams of the random numbers: see Run.
const (
	trainingStream   = 1
	validationStream = 2
	checkingStream   = 3
)

func (r *run) stream(purpose uint64, k int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(r.Seed), purpose<<32|uint64(k)))
}

// tables draws what is learned from, and what the best weights are chosen by.
func (r *run) tables(ctx context.Context) (training, validation []train.EdgeTable, err error) {
	report := progress.Begin(r.tell, progress.Simulating, "")
	training, validation = make([]train.EdgeTable, r.Tables), make([]train.EdgeTable, r.ValidationTables)
	all := len(training) + len(validation)
	var done atomic.Int64
	err = dense.Each(ctx, all, r.Workers, func(_, k int) (err error) {
		if k < r.Tables {
			training[k], err = r.table(ctx, r.stream(trainingStream, k))
		} else {
			validation[k-r.Tables], err = r.table(ctx, r.stream(validationStream, k-r.Tables))
		}
		n := done.Add(1)
		report.Report(float64(n)/float64(all), progress.Count(int(n), "table"))
		return err
	})
	if err == nil {
		report.Done(fmt.Sprintf("%s and %d for validation", progress.Count(r.Tables, "table"), r.ValidationTables))
	}
	return training, validation, err
}

// table draws a table and some of its pairs.
func (r *run) table(ctx context.Context, rng *rand.Rand) (t train.EdgeTable, err error) {
	e, _, err := simulate.Pairs(ctx, rng)
	if err != nil {
		return t, err
	}
	var edges, others [][2]int
	d := e.S.Len()
	for i := range d {
		for j := i + 1; j < d; j++ {
			if e.Truth.At(i, j) != 0 {
				edges = append(edges, [2]int{i, j})
			} else {
				others = append(others, [2]int{i, j})
			}
		}
	}
	var pairs [][2]int
	take := func(all [][2]int, most int, edge bool) {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		some := all[:min(most, len(all))]
		for _, p := range some {
			pairs = append(pairs, p)
			t.Edge = append(t.Edge, edge)
			t.Weight = append(t.Weight, float64(len(all))/float64(len(some))/math.Sqrt(float64(d)))
		}
	}
	take(edges, r.Edges, true)
	take(others, r.Others, false)
	est, err := r.solve(ctx, e.Problem(), false)
	if err != nil {
		return t, err
	}
	t.Inputs, err = glad.EdgeInputs(ctx, r.engine, glad.EdgeFeatures(), e.Problem(), est.Precision, est.Support, pairs)
	return t, err
}

// solve runs the model, with its head or without.
func (r *run) solve(ctx context.Context, p solver.Problem, head bool) (*solver.Estimate, error) {
	m := *r.model
	if !head {
		m.Edge, m.EdgeRange = glad.Network{}, nil
	}
	est, err := glad.Solver{Model: &m, Backend: glad.CPU{Engine: r.engine, Workers: 1}}.Solve(ctx, p)
	if err == nil {
		err = ctx.Err()
	}
	return est, err
}
